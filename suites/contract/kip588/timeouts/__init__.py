"""Transactions that outlive their timeout."""
