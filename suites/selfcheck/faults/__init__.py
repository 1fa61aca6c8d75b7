"""Selfcheck: toxics, the gate and their target."""
