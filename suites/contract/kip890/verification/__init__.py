"""VERIFY: a leader asks the coordinator before an older client's first write to a partition (KIP-890, part 1)."""
