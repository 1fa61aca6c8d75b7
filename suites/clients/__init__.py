"""The contract of clients: what KIP-691, KIP-360, KIP-588 and KIP-890 promise of them, one file a promise."""
