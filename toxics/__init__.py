"""Faults, one small file each, with what it needs and counts; chaos draws them, requirements use some."""
