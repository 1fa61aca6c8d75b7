"""KIP-890: what clients speak at each level of transaction.version, and through a change of it."""
