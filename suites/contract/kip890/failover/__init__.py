"""What a transaction's next coordinator goes on with (KIP-890, part 2)."""
