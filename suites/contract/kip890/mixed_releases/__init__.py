"""Brokers of several releases in one cluster, as during a rolling upgrade."""
