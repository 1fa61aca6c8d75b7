"""What brokers show of that which cells leave behind."""
