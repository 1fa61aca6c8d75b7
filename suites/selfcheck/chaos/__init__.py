"""Selfcheck: Chaos's plan and play."""
