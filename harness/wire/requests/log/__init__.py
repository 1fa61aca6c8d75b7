"""Requests to partition leaders: produce, fetch, offsets."""
