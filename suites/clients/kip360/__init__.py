"""KIP-360: how a client goes on after a failure."""
