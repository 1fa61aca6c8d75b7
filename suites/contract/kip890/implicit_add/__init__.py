"""Produce adds its partition to the transaction (KIP-890, part 2)."""
