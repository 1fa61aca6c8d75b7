"""Selfcheck: the laws of the house."""
