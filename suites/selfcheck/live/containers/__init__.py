"""Selfcheck: what needs a container engine, on which nothing else of ours may come or go meanwhile."""
