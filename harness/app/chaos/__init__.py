"""Chaos in pytest: a session of rounds, its items, and its options."""
