"""Spark: its session, read_committed readers, and histories as DataFrames. For the lab, chaos and the judge."""
