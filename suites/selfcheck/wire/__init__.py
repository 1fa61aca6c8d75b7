"""Selfcheck: requests, records and frames."""
