"""What came about in a crowd, counted while it plays: that a habit was drawn does not show that it had its effect."""

import time
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.base.json_value import Json
from harness.chaos.plan.crowd import LARGEST_PAYLOAD, SEGMENT_MS
from harness.wire.topic_partitions import TopicPartition, partition_name

LAST_COMMITS = 1_000
"""That are remembered: more than a fault must meet."""


@dataclass(slots=True)
class CrowdAccount:
    """Counted by all seats of a crowd in one thread.

    :param most_open: The most transactions that were open on a partition at once, each with an acknowledged record.
    :param outlived: Transactions that ended later than a segment's length after their first acknowledged record, so
        that a segment was rolled on their partition meanwhile.
    :param near_limit: Records of nearly ``max.message.bytes`` that were acknowledged.
    :param longest: The most records of a transaction that was ended.
    :param commits: When the last ones were done, in seconds of the monotonic clock.
    """

    most_open: int = 0
    most_open_on: str = ""
    outlived: int = 0
    near_limit: int = 0
    longest: int = 0
    commits: deque[float] = field(default_factory=lambda: deque(maxlen=LAST_COMMITS))
    _open: Counter[TopicPartition] = field(default_factory=Counter)

    def opened(self, partitions: Iterable[TopicPartition]) -> None:
        """A transaction has its first record on each of them."""
        for partition in partitions:
            self._open[partition] += 1
            if self._open[partition] > self.most_open:
                self.most_open, self.most_open_on = self._open[partition], partition_name(*partition)

    def written(self, payloads: Iterable[str]) -> None:
        """Records that were acknowledged."""
        self.near_limit += sum(1 for payload in payloads if len(payload) >= LARGEST_PAYLOAD)

    def closed(self, partitions: Iterable[TopicPartition], *, records: int, seconds: float, ended: bool) -> None:
        """Its client is done with a transaction.

        :param seconds: Since its first acknowledged record.
        :param ended: Whether it was committed or aborted for certain.
        """
        self._open.subtract(partitions)
        if ended:
            self.outlived += seconds * 1000 > SEGMENT_MS
            self.longest = max(self.longest, records)

    def committed(self) -> None:
        """A commit is done."""
        self.commits.append(time.monotonic())

    def has_committed(self, wanted: int, seconds: float) -> bool:
        """Whether so many were done in so many seconds, up to now; asked by other threads too."""
        done = len(self.commits)
        return done >= wanted and time.monotonic() - self.commits[done - wanted] <= seconds

    def facts(self) -> dict[str, Json]:
        """For ``run.json``."""
        return {
            "most_open": self.most_open,
            "most_open_on": self.most_open_on,
            "outlived_segments": self.outlived,
            "near_the_limit": self.near_limit,
            "longest": self.longest,
        }
