"""KIP-588: how a producer goes on after the coordinator has aborted its overdue transaction."""
