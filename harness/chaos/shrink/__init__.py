"""Shrinking: the smallest plan of a red round that is still red."""
