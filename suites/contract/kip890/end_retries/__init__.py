"""KIP-890: the end of a transaction, asked for again."""
