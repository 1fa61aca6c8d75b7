"""KIP-588: what an application is told whose transaction has outlived its timeout."""
