"""Metrics of verification (KIP-890, "Metrics")."""
