"""Chaos: a session of rounds, its items in pytest, its options, and the search that makes a red round small."""
