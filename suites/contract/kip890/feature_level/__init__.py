"""FEAT: the feature level transaction.version, and what it decides (KIP-890, part 2)."""
