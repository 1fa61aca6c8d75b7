"""Selfcheck: the client adapters and their error tables."""
