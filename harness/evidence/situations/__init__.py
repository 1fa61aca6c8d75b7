"""In which situations the faults of a round struck, derived from what the round recorded. Pure but for its files."""
