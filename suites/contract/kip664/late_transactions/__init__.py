"""The metric PartitionsWithLateTransactionsCount (KIP-664, "Detection")."""
