"""Selfcheck: routing and retriable codes."""
