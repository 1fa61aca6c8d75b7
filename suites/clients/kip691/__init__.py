"""KIP-691: what a producer does with each error."""
