"""Faults of leadership: coordinators and leaders that move or are cut off."""
