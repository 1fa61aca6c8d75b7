"""KIP-890: old and new protocol, clients and brokers side by side."""
