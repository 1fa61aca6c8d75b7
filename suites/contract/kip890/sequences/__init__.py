"""Which sequences a leader takes of a transactional producer (KIP-890, «Return Error for Non-Zero Sequence»)."""
