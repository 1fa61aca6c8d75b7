"""Selfcheck: targets, backends and engines."""
