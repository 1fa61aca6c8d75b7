"""A partition of one requirement and its short name in evidence; a consumer group and the partition behind it."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition that one requirement writes to; ``alias`` (``P1``) is its name in steps, logs and samples.

    :param start: Its end when it was taken: 0 of a fresh one. Nothing below is read, and evidence counts from here.
    :param index: :data:`UNKNOWN` of the partition behind a group where the server does not show which it is.
    """

    alias: str
    topic: str
    index: int
    leader: int
    topic_id: UUID | None = None
    start: int = 0

    @property
    def topic_partition(self) -> tuple[str, int]:
        """(topic, partition index), as requests name it."""
        return self.topic, self.index

    @property
    def known(self) -> bool:
        """Whether it can be read."""
        return self.index != UNKNOWN

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"


UNKNOWN = -1
"""An index that the server does not show."""
CONSUMER_OFFSETS = "__consumer_offsets"
"""The topic that keeps groups' offsets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A consumer group of no members, whose offsets a transaction commits.

    :param offsets: The partition that keeps them, led by the group's coordinator; other groups write to it as well.
    """

    name: str
    offsets: Partition
