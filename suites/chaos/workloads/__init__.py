"""Workloads: what clients do, drawn from the seed alone."""
