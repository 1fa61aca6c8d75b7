"""What coordinators have written of the ids of a batch, as it stands in ``__transaction_state``."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from harness.base.unprepared import Unprepared
from harness.explore.looks.listed_ends import Leaders, listed_ends
from harness.explore.looks.stale_route import require_sound
from harness.kafka.in_charge import version_of_leaders
from harness.wire.records.record_batch import LogBatch
from harness.wire.records.transaction_state import TransactionState, decode_state
from harness.wire.requests.log.fetch import Fetch
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.topic_partitions import TopicPartition, partition_name
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import UnreadableRecords, WireError


@dataclass(slots=True, kw_only=True)
class RecordLook:
    """Reads on from look to look, so that each record is fetched once. Used by one thread.

    :param unreadable: Takes why records cannot be read by us; nothing is read from then on.
    """

    observer: WireClient
    unreadable: Callable[[str], None]
    is_readable: bool = True
    _read_to: dict[TopicPartition, int]
    _kept: dict[str, list[TransactionState]] = field(default_factory=dict)

    @classmethod
    def begun(cls, observer: WireClient, leaders: Leaders, unreadable: Callable[[str], None]) -> "RecordLook | None":
        """From now on; None where the topic is not shown to us, as where it needs a permission or has another name."""
        try:
            ends = listed_ends(observer, leaders)
        except WireError:
            return None
        if not ends or any(each.error for each in ends.values()):
            return None
        return cls(
            observer=observer,
            unreadable=unreadable,
            _read_to={place: each.offset for place, each in ends.items()},
        )

    def of(self, ids: Collection[str], leaders: Leaders) -> Mapping[str, Sequence[TransactionState]] | None:
        """All records of these ids since they were first asked for, in their order; those of others are forgotten.

        None where records have a form that is not known here, as those of a later release may have.

        :raises WireError, Unprepared: When they cannot be read. :raises StaleRoute: As :func:`require_sound`.
        """
        self._kept = {name: self._kept.get(name, []) for name in ids}
        try:
            if self.is_readable:
                self._read_all(leaders)
        except UnreadableRecords as unknown:
            self.is_readable = False
            self.unreadable(str(unknown))
        return self._kept if self.is_readable else None

    def _read_all(self, leaders: Leaders) -> None:
        for place, end in listed_ends(self.observer, leaders).items():
            require_sound(ListOffsets.api, end.error)
            while self._read_to[place] < end.offset:
                self._read_on(place, leaders[place])

    def _read_on(self, place: TopicPartition, leader: int) -> None:
        version, begins = version_of_leaders(self.observer, leader, Fetch.api), self._read_to[place]
        request = Fetch(topic=place[0], partition=place[1], offset=begins)
        answer = self.observer.call(leader, request, version).result
        require_sound(Fetch.api, answer.error)
        if answer.next_offset <= begins:
            raise Unprepared(f"{partition_name(*place)} shows nothing from {begins} on, and goes on behind it")
        self._read_to[place] = answer.next_offset
        for batch in answer.batches:
            self._keep(batch)

    def _keep(self, batch: LogBatch) -> None:
        for record in () if batch.is_control else batch.records:
            state = decode_state(record)
            if state.transactional_id in self._kept:
                self._kept[state.transactional_id].append(state)
