"""Answers after which a request is sent again, and those of them after which it may have been carried out."""

NOTHING_DONE = frozenset({"CONCURRENT_TRANSACTIONS", "NOT_ENOUGH_REPLICAS"})
"""Told before anything is written."""
MAY_BE_DONE = frozenset(
    {"COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "NOT_LEADER_OR_FOLLOWER"}
)
"""Told before anything is written, and also after that, where a coordinator or leader moves by itself meanwhile: what
was written is kept by the next one (``TransactionStateManager.appendTransactionToLog``, its callback;
``DelayedProduce.tryComplete``)."""
PASSING = NOTHING_DONE | MAY_BE_DONE
"""The same request may be answered otherwise a moment later."""
WHY_UNSURE = "a coordinator or leader moved by itself: a request that was sent again may have been carried out at first"
