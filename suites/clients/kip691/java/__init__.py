"""KIP-691: what the Java client throws."""
