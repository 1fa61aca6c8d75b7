"""A sound broker in a few lines: coordinator, leaders and group coordinator, as the KIPs promise and no further.

It does what it is told at once, one call after the other; that answers are lost, and that requests arrive late, is the
clients' doing (:mod:`suites.selfcheck.histories.client`). Markers are written some time after a transaction's end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias

from harness.history.operation import LogRecord

Place: TypeAlias = tuple[str, int]
Control: TypeAlias = Literal["COMMIT", "ABORT"]

INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE, PRODUCER_FENCED, ILLEGAL_GENERATION = 47, 48, 90, 22


class Refused(Exception):
    """The broker says no; ``error`` is its code."""

    def __init__(self, error: int) -> None:
        super().__init__(error)
        self.error = error


@dataclass(slots=True, kw_only=True)
class Producing:
    """What a coordinator keeps for a transactional id.

    :param txn: The client's number of the transaction that is open, None while none is.
    """

    producer_id: int
    epoch: int = 0
    txn: int | None = None
    places: set[Place] = field(default_factory=set)
    offsets: dict[tuple[str, str, int], int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Broker:
    """A cluster of one.

    :param next_id: The producer id that is handed out next.
    :param owners: The group's member that a place is assigned to, with the generation of the assignment.
    """

    rng: Random
    places: Sequence[Place]
    next_id: int
    logs: dict[Place, list[LogRecord]] = field(default_factory=dict)
    producing: dict[str, Producing] = field(default_factory=dict)
    owners: dict[Place, tuple[str, int]] = field(default_factory=dict)
    committed: dict[tuple[str, str, int], int] = field(default_factory=dict)
    _markers: list[tuple[Place, int, int, Control]] = field(default_factory=list)
    _offsets_due: dict[int, dict[tuple[str, str, int], int]] = field(default_factory=dict)
    _open: dict[Place, dict[int, int]] = field(default_factory=dict)
    _sequences: dict[tuple[Place, int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Every partition begins empty."""
        self.logs = {place: [] for place in self.places}
        self._open = {place: {} for place in self.places}

    def init(self, transactional_id: str) -> tuple[int, int]:
        """Fence whoever had the id, end what it left open; the producer id and epoch of the new one."""
        kept = self.producing.get(transactional_id)
        if kept is None or self.rng.random() < 0.02:  # an epoch may be exhausted at any time, for all a client knows
            if kept is not None:
                self._end(kept, "ABORT")
            fresh = Producing(producer_id=self.next_id)
            self.next_id += 1
            self.producing[transactional_id] = fresh
            return fresh.producer_id, fresh.epoch
        if kept.txn is not None:
            kept.epoch += 1
            self._end(kept, "ABORT")
        self._settle(kept.producer_id)
        kept.epoch += 1
        return kept.producer_id, kept.epoch

    def produce(self, transactional_id: str, identity: tuple[int, int], txn: int, place: Place, value: str) -> int:
        """Append one record; its offset. :raises Refused: by fencing."""
        kept = self._known(transactional_id, identity, txn)
        log, (producer_id, epoch) = self.logs[place], identity
        kept.places.add(place)
        sequence = self._sequences.get((place, producer_id, epoch), 0)
        self._sequences[place, producer_id, epoch] = sequence + 1
        self._open[place].setdefault(producer_id, len(log))
        log.append(
            LogRecord(
                topic=place[0],
                partition=place[1],
                offset=len(log),
                batch_offset=len(log),
                producer_id=producer_id,
                epoch=epoch,
                sequence=sequence,
                transactional=True,
                value=value,
            )
        )
        return len(log) - 1

    def send_offsets(
        self,
        transactional_id: str,
        identity: tuple[int, int],
        txn: int,
        member: tuple[str, int],
        next_of: tuple[str, Place, int],
    ) -> None:
        """Put a next offset into the transaction; :raises Refused: by fencing, or a member that lost the partition."""
        group, place, offset = next_of
        if self.owners.get(place) != member:
            raise Refused(ILLEGAL_GENERATION)
        kept = self._known(transactional_id, identity, txn)
        kept.offsets[group, *place] = offset

    def end(self, transactional_id: str, identity: tuple[int, int], txn: int, control: Control, *, bumps: bool) -> int:
        """EndTxn; the epoch that is to be used next. :raises Refused: by fencing, or when nothing is open."""
        kept = self.producing[transactional_id]
        self._fence(kept, identity)
        if kept.txn is not None and kept.txn != txn:
            raise Refused(INVALID_TXN_STATE)
        self._end(kept, control)
        kept.epoch += bumps
        return kept.epoch

    def time_out(self, transactional_id: str) -> None:
        """The coordinator aborts what has been open for too long, and fences its producer."""
        kept = self.producing.get(transactional_id)
        if kept is not None and kept.txn is not None:
            kept.epoch += 1
            self._end(kept, "ABORT")

    def some_markers(self) -> None:
        """One of the markers under way arrives."""
        if self._markers:
            self._write_marker(self._markers.pop(self.rng.randrange(len(self._markers))))

    def settle(self) -> None:
        """Every open transaction times out, and every marker arrives."""
        for transactional_id in self.producing:
            self.time_out(transactional_id)
        while self._markers:
            self.some_markers()
        for producer_id in list(self._offsets_due):
            self._settle(producer_id)

    def assign(self, place: Place, actor: str) -> None:
        """A rebalance: the place is another member's, in a generation of its own."""
        self.owners[place] = (actor, self.owners.get(place, ("", 0))[1] + 1)

    def last_stable_offset(self, place: Place) -> int:
        """The first offset of the first open transaction, or the log's end."""
        return min(self._open[place].values(), default=len(self.logs[place]))

    def stable_offset_of(self, group: str, place: Place) -> int | None:
        """The group's committed offset; None while a transaction that may change it is not settled."""
        key = (group, *place)
        if any(key in kept.offsets for kept in self.producing.values()) or any(
            key in due for due in self._offsets_due.values()
        ):
            return None
        return self.committed.get(key, 0)

    def _known(self, transactional_id: str, identity: tuple[int, int], txn: int) -> Producing:
        """The state in which a write belongs to ``txn``, beginning it where nothing is open."""
        kept = self.producing[transactional_id]
        self._fence(kept, identity)
        if kept.txn is None:
            self._settle(kept.producer_id)  # CONCURRENT_TRANSACTIONS until the last one's markers are written
            kept.txn = txn
        if kept.txn != txn:
            raise Refused(INVALID_TXN_STATE)
        return kept

    def _fence(self, kept: Producing, identity: tuple[int, int]) -> None:
        if identity != (kept.producer_id, kept.epoch):
            raise Refused(self.rng.choice((INVALID_PRODUCER_EPOCH, PRODUCER_FENCED)))

    def _end(self, kept: Producing, control: Control) -> None:
        self._markers += [(place, kept.producer_id, kept.epoch, control) for place in sorted(kept.places)]
        if control == "COMMIT" and kept.offsets:
            self._offsets_due.setdefault(kept.producer_id, {}).update(kept.offsets)
        kept.txn, kept.places, kept.offsets = None, set(), {}

    def _settle(self, producer_id: int) -> None:
        due = [marker for marker in self._markers if marker[1] == producer_id]
        self._markers = [marker for marker in self._markers if marker[1] != producer_id]
        for marker in due:
            self._write_marker(marker)
        self.committed.update(self._offsets_due.pop(producer_id, {}))

    def _write_marker(self, marker: tuple[Place, int, int, Control]) -> None:
        place, producer_id, epoch, control = marker
        log = self.logs[place]
        self._open[place].pop(producer_id, None)
        log.append(
            LogRecord(
                topic=place[0],
                partition=place[1],
                offset=len(log),
                batch_offset=len(log),
                producer_id=producer_id,
                epoch=epoch,
                sequence=-1,
                transactional=True,
                control=control,
                coordinator_epoch=0,
            )
        )
