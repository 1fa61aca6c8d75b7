"""A streaming query's checkpoint, read as plain files: how far the query has come, also when it has failed.

``offsets/<batch>`` is written before a micro-batch runs and has its end offsets; ``commits/<batch>`` when the batch is
over (Spark's ``OffsetSeqLog`` and ``CommitLog``). So a batch that is in the first and not in the second is being worked
on, or was when the query died, and it is the first thing that a query restarted from the checkpoint does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The checkpoint of a query with one Kafka source."""

    folder: Path

    @property
    def planned(self) -> int:
        """The last batch that was begun; -1 before the first."""
        return _last(self.folder / "offsets")

    @property
    def committed(self) -> int:
        """The last batch that is over; -1 before the first."""
        return _last(self.folder / "commits")

    @property
    def in_mid_batch(self) -> bool:
        """Whether a batch was begun and is not over."""
        return self.planned > self.committed

    def ends(self) -> Mapping[tuple[str, int], int]:
        """The offset behind the last batch that is over, of each topic and partition; empty before the first."""
        batch = self.committed
        return {} if batch < 0 else _offsets((self.folder / "offsets" / str(batch)).read_text(encoding="utf-8"))


def _last(log: Path) -> int:
    """A log's files are named by their batch; beside them are checksums and files that are still being written."""
    return max((int(entry.name) for entry in log.glob("*") if entry.name.isdigit()), default=-1)


def _offsets(written: str) -> Mapping[tuple[str, int], int]:
    """A line for the version, one for the batch, one for each source: topic to partition to offset."""
    _, _, source = written.splitlines()
    topics: Mapping[str, Mapping[str, int]] = json.loads(source)
    return {(topic, int(index)): offset for topic, indexes in topics.items() for index, offset in indexes.items()}
