"""Rolling upgrade: every node to the target's release, ``transaction.version`` up, down and up, metadata last.

Kafka's upgrade notes finalize the metadata version last, because there is no way back from it. Needs a cluster that was
started with another release. Counts nodes that came back with the other release, and levels that were shown.
"""

from harness.faults.brokers.release_change import METADATA, TRANSACTION, FinalizedLevel, ReleaseChange

TOXIC = ReleaseChange(
    name="rolling-upgrade",
    steps=(
        "up",
        *(FinalizedLevel(feature=TRANSACTION, level=level) for level in (2, 0, 2)),
        FinalizedLevel(feature=METADATA, level=None),
    ),
)
