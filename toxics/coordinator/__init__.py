"""Faults of leadership: coordinators and leaders moved or cut off."""
