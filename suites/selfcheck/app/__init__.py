"""Selfcheck: the command line."""
