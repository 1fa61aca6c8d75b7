"""KIP-691: ends that are not answered, and the whole loop of an application."""
