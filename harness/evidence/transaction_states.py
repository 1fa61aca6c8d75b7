"""Kafka's words for the state of a transaction (``TransactionState``), by whether it has ended."""

GOING_ON = frozenset({"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"})
"""It has not ended yet."""
OVER = frozenset({"Empty", "CompleteCommit", "CompleteAbort"})
"""Nothing is open, and the id is kept."""
