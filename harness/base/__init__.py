"""The floor: clock, waiting, seed, addresses, Kafka's error codes, errors told to a person. Any room may use it."""
