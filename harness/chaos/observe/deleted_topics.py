"""What is written of topics that may have been deleted while clients wrote to them: nothing of theirs is left.

For the judge such a log begins above whatever was in it, as one whose records were deleted (KIP-107) begins above
those; it misses nothing below. So transactions are judged by what they wrote elsewhere.
"""

from collections.abc import Iterator, Sequence

from harness.evidence.history.operation import PartitionEnd
from harness.wire.topic_partitions import TopicPartition

BEYOND_ALL = 1 << 53
"""An offset that no log of a round comes to."""
NOBODY = -1
"""The leader of a partition that is not there."""


def ends_of_deleted(partitions: Sequence[TopicPartition], at: float) -> Iterator[PartitionEnd]:
    """One for each partition. :param at: Milliseconds of the run's clock."""
    for topic, partition in partitions:
        yield PartitionEnd(
            at=at,
            topic=topic,
            partition=partition,
            log_start_offset=BEYOND_ALL,
            high_watermark=BEYOND_ALL,
            last_stable_offset=BEYOND_ALL,
            leader=NOBODY,
        )
