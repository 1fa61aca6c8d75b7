"""KIP-98: exactly once, when an answer is lost or is an error."""
