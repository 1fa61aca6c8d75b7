"""Upgrade and back: every node to the target's release, ``transaction.version`` up and down, every node back again.

Before the metadata version is finalized Kafka's upgrade notes allow the way back. Needs a cluster that was started with
another release. Counts nodes that came back with the other release, and levels that were shown.
"""

from harness.faults.brokers.release_change import TRANSACTION, FinalizedLevel, ReleaseChange

TOXIC = ReleaseChange(
    name="upgrade-and-back",
    steps=("up", *(FinalizedLevel(feature=TRANSACTION, level=level) for level in (1, 2, 0)), "down"),
)
