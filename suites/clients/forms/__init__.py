"""What several promises of clients share."""
