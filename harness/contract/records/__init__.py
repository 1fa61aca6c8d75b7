"""What checks say of records in a log of brokers, and doctor in them."""
