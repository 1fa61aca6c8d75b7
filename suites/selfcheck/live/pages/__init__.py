"""Selfcheck: pages in a browser."""
