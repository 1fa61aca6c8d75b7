"""The coordinators' log by transactional id: which state an id had for the whole of a stretch of time."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from harness.evidence.situations.recorded import StateRecord

FIRST = ("Empty", 0)
"""State and epoch of the first record of an id (``TransactionCoordinator.handleInitProducerId``)."""
STAMP_MS = 1.0
"""What a broker's time leaves open: it is cut to whole milliseconds."""


@dataclass(slots=True)
class StateIndex:
    """Records in the order in which they were appended."""

    records: Sequence[StateRecord]
    by_id: dict[str, list[StateRecord]] = field(default_factory=dict)
    _ids_of: dict[int, set[str]] = field(default_factory=dict)
    _times: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for record in self.records:
            self.by_id.setdefault(record.transactional_id, []).append(record)
            self._ids_of.setdefault(record.producer_id, set()).add(record.transactional_id)
        self._times = {one: [record.at for record in records] for one, records in self.by_id.items()}

    def state(self, transactional_id: str, since: float, upto: float) -> StateRecord | None:
        """The record whose state held all the time; None where it changed, or where there was none yet."""
        place = self._place(transactional_id, since)
        if place < 0 or self._next_at(transactional_id, place) < upto:
            return None
        found = self.by_id[transactional_id][place]
        return found if found.at + STAMP_MS <= since else None

    def unknown(self, transactional_id: str, upto: float) -> bool:
        """Whether its first record was appended later.

        A coordinator begins with epoch 0 for an id that it does not know; another first record was left by compaction.
        """
        records = self.by_id.get(transactional_id, [])
        return bool(records) and records[0].at >= upto and (records[0].state, records[0].producer_epoch) == FIRST

    def of_producer(self, producer_id: int, since: float, upto: float) -> Iterator[StateRecord]:
        """States that held all the time, of ids that had this producer id."""
        for one in sorted(self._ids_of.get(producer_id, ())):
            found = self.state(one, since, upto)
            if found is not None and found.producer_id == producer_id:
                yield found

    def neighbours(self) -> Iterator[tuple[StateRecord, StateRecord]]:
        """Each record with the next one of the same id."""
        for records in self.by_id.values():
            yield from pairwise(records)

    def _place(self, transactional_id: str, at: float) -> int:
        return bisect_right(self._times.get(transactional_id, ()), at) - 1

    def _next_at(self, transactional_id: str, place: int) -> float:
        times = self._times[transactional_id]
        return times[place + 1] if place + 1 < len(times) else float("inf")
