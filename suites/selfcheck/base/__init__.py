"""Selfcheck: the base."""
