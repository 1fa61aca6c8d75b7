"""What leaders keep of producers, and what they do without it (KIP-360)."""
