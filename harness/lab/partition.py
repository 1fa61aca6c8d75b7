"""A fresh partition and its short name in evidence."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition made for one requirement; ``alias`` (``P1``) is its name in steps, logs and samples."""

    alias: str
    topic: str
    index: int
    leader: int
    topic_id: UUID | None = None

    @property
    def topic_partition(self) -> tuple[str, int]:
        """(topic, partition index), as requests name it."""
        return self.topic, self.index

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"
