"""SAFE: what the defences together must never let happen (KIP-890, motivation and goals)."""
