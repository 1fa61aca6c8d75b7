"""The reading half of a wire client: positions of the assigned partitions, and read_committed Fetch from them.

Positions begin at the group's committed offsets, asked for with ``require_stable`` (KIP-447): an offset that an open
transaction may still commit is waited for, since the partition's last owner may be about to end it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.base import wait
from harness.clients.client import CallResult
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.retry import Retry
from harness.evidence.delivered_record import DeliveredRecord
from harness.evidence.operation import Outcome
from harness.wire.records.isolation import committed_records
from harness.wire.records.record_batch import text
from harness.wire.requests.groups.offset_fetch import NONE, OffsetFetch
from harness.wire.requests.log.fetch import READ_COMMITTED, Fetch, FetchResult
from harness.wire.requests.log.list_offsets import EARLIEST, ListOffsets
from harness.wire.topic_partitions import partition_name

BETWEEN = 0.02
"""Seconds between two rounds that brought nothing."""
OFFSET_OUT_OF_RANGE = 1


@dataclass(slots=True)
class WireConsumer:
    """Reads what it is told to own."""

    attempts: Retry
    positions: dict[tuple[str, int], int] = field(default_factory=dict)

    def begin(self, group: str, partitions: Sequence[tuple[str, int]], bound: Deadline) -> CallResult:
        """Own ``partitions``, from the group's committed offsets, or the beginning where it has none."""
        self.positions.clear()
        if not partitions:
            return CallResult(outcome=Outcome.DONE, tries=0)
        verb = OffsetFetch(group=group, partitions=partitions, require_stable=True)
        fetched = self.attempts.ask(
            verb,
            lambda left: self.attempts.routes.coordinator_of_group(group, left),
            bound,
            patience=bound.left,
            repeatable=True,
        )
        if fetched.result is None:
            return fetched.answer()
        starts = {place: fetched.result.offsets.get(partition_name(*place), NONE) for place in partitions}
        for place, offset in starts.items():
            self.positions[place] = offset if offset >= 0 else self._earliest(place, bound)
        return fetched.answer()

    def poll(self, bound: Deadline) -> list[DeliveredRecord]:
        """The next committed records of all partitions; empty when the bound passed without any."""
        while True:
            delivered = [record for place in list(self.positions) for record in self._next(place, bound)]
            if delivered or bound.over:
                return delivered
            wait.pause(min(BETWEEN, bound.left))

    def _next(self, place: tuple[str, int], bound: Deadline) -> list[DeliveredRecord]:
        """One fetch; a partition that does not answer now brings nothing, and is asked again by the next poll."""
        topic, partition = place
        node = self.attempts.routes.leader(topic, partition, bound)
        if node is None:
            self.attempts.routes.forget("Fetch")
            return []
        verb = Fetch(
            topic=topic, partition=partition, offset=self.positions[place], isolation=READ_COMMITTED, max_bytes=1 << 20
        )
        heard = self.attempts.channel.ask(node, verb, max(bound.left, SHORTEST)).result
        if heard is None or heard.error:
            self._lost(place, heard.error if heard else None, bound)
            return []
        return self._advance(place, heard)

    def _advance(self, place: tuple[str, int], fetched: FetchResult) -> list[DeliveredRecord]:
        position = self.positions[place]
        self.positions[place] = max(position, fetched.next_offset)
        shown = committed_records(fetched.batches, fetched.aborted)
        return [
            DeliveredRecord(*place, record.offset, text(record.value)) for record in shown if record.offset >= position
        ]

    def _lost(self, place: tuple[str, int], error: int | None, bound: Deadline) -> None:
        self.attempts.routes.forget("Fetch")
        if error == OFFSET_OUT_OF_RANGE:
            self.positions[place] = self._earliest(place, bound)

    def _earliest(self, place: tuple[str, int], bound: Deadline) -> int:
        topic, partition = place
        listed = self.attempts.ask(
            ListOffsets(topic=topic, partition=partition, timestamp=EARLIEST),
            lambda left: self.attempts.routes.leader(topic, partition, left),
            bound,
            patience=bound.left,
            repeatable=True,
        )
        return listed.result.offset if listed.result is not None else 0


SHORTEST = 0.05
"""Seconds that a fetch is given at least, however short the poll."""
