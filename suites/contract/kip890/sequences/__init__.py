"""KIP-890, sequences of producers that the leader does not know."""
