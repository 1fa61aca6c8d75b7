"""Selfcheck: the form of a requirement and its controls."""
