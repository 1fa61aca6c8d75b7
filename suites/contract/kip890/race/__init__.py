"""What happens between a positive verification and the append (KIP-890, «Race Condition»)."""
