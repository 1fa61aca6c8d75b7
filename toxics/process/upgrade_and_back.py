"""Upgrade and back: every node to the target's release, and every node back again.

Before the metadata version is finalized Kafka's upgrade notes allow the way back. No level moves in between: a
controller of a release that does not know a level ends where its log has the record of it
(``FeatureControlManager.replay``). Needs a cluster that was started with another release. Counts nodes that came back
with the other release, and levels that were shown.
"""

from harness.faults.brokers.release_change import ReleaseChange

TOXIC = ReleaseChange(
    name="upgrade-and-back",
    steps=("up", "down"),
)
