"""AddPartitionsToTxn, by clients and by brokers."""
