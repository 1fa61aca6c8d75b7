"""The anomalies that a judge of chaos histories may name: one a file, found by its place."""
