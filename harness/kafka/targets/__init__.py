"""What a target offers, and whether it still answers."""
