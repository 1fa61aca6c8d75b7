"""KIP-890: offsets of a consumer group that are committed with a transaction."""
