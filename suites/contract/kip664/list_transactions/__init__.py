"""ListTransactions."""
