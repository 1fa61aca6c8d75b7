"""Faults, one small file each; each says what it needs and proves that it struck."""
