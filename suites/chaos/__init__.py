"""Chaos: workloads and scenarios; each is one file."""
