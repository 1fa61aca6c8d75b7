"""KIP-890: the epoch grows at the end of every transaction, and fences what comes late."""
