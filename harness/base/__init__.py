"""Base: clock, waiting, seed, addresses, Kafka's error codes, errors for a user. Every package may import it."""
