"""Selfcheck: exploring a cluster by the model's grid, without a cluster."""
