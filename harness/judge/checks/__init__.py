"""The checks, one file each: what must be true of every history, and the anomalies that say it is not."""
