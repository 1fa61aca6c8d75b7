"""Faults, one small file each, which says what it needs and counts; chaos draws them, requirements use some."""
