"""Situations on purpose: faults that wait for a moment, what struck when, and rounds that visit what no other has."""
