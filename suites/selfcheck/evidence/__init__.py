"""Selfcheck: run folders and histories."""
