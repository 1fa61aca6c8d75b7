"""Selfcheck: rounds of chaos, toxics and liars, drains and readers, on real brokers."""
