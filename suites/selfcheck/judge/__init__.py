"""Selfcheck: the judge."""
