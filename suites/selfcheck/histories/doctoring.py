"""Looking into a history and cutting it open: segments, transactions that are sound, room for one more record."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from harness.history.operation import Level, LogRecord, Operation, Outcome, PartitionEnd, Read, ReaderEnd, Value
from suites.selfcheck.histories.broker import Place
from suites.selfcheck.histories.synthetic import Synthetic

Row = TypeVar("Row")
Placed = TypeVar("Placed", LogRecord, Read, ReaderEnd, Operation, Level, PartitionEnd)
Levelled = TypeVar("Levelled", Level, PartitionEnd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A producer's records on a partition with the marker that ends them."""

    place: Place
    producer_id: int
    records: tuple[LogRecord, ...]
    marker: LogRecord

    @property
    def committed(self) -> bool:
        """Whether its marker says COMMIT."""
        return self.marker.control == "COMMIT"

    @property
    def txn(self) -> int:
        """Whose records it has; a sound segment has those of one transaction."""
        return value_of(self.records[0]).txn


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A transaction: its operations by verb, and the segments in which its records are."""

    txn: int
    produces: tuple[Operation, ...]
    offsets: tuple[Operation, ...]
    ends: tuple[Operation, ...]
    segments: tuple[Segment, ...]

    @property
    def actor(self) -> str:
        """Who played it."""
        return self.produces[0].actor if self.produces else ""

    @property
    def acknowledged(self) -> bool:
        """Whether it wrote something, and all of it was done."""
        return bool(self.produces) and all(one.outcome is Outcome.DONE for one in (*self.produces, *self.offsets))

    @property
    def sound(self) -> bool:
        """Acknowledged, and its commit was done."""
        return self.acknowledged and self.ended("commit", Outcome.DONE)

    @property
    def records(self) -> tuple[LogRecord, ...]:
        """All of its records."""
        return tuple(record for segment in self.segments for record in segment.records)

    def ended(self, verb: str, *outcomes: Outcome) -> bool:
        """Whether it was ended so."""
        return any(end.verb == verb and end.outcome in outcomes for end in self.ends)


def value_of(record: LogRecord | Read) -> Value:
    """The value of a record that the model wrote."""
    value = Value.parse(str(record.value))
    assert value is not None, record
    return value


def segments(history: Synthetic) -> list[Segment]:
    """All segments, in the order of their markers."""
    ended: list[Segment] = []
    open_: dict[tuple[Place, int], list[LogRecord]] = {}
    for record in history.log:
        place = (record.topic, record.partition)
        if record.control is None:
            open_.setdefault((place, record.producer_id), []).append(record)
        elif records := open_.pop((place, record.producer_id), None):
            ended.append(Segment(place=place, producer_id=record.producer_id, records=tuple(records), marker=record))
    return ended


def stories(history: Synthetic, *, probes: bool = False) -> list[Story]:
    """All transactions, in the order of their numbers."""
    parts: dict[int, list[Segment]] = {}
    for segment in segments(history):
        parts.setdefault(segment.txn, []).append(segment)
    by_txn: dict[int, list[Operation]] = {}
    for operation in history.operations:
        if operation.txn is not None and (probes or not operation.actor.startswith("probe-")):
            by_txn.setdefault(operation.txn, []).append(operation)
    return [
        Story(
            txn=txn,
            produces=tuple(one for one in told if one.verb == "produce"),
            offsets=tuple(one for one in told if one.verb == "send_offsets"),
            ends=tuple(one for one in told if one.verb in ("commit", "abort")),
            segments=tuple(parts.get(txn, ())),
        )
        for txn, told in sorted(by_txn.items())
    ]


def is_input(history: Synthetic, place: Place) -> bool:
    """Whether the place's records are consumed by a group: what happens to one has consequences elsewhere."""
    return history.workload == "relay" and place[0].endswith("inputs")


def swap(rows: list[Row], old: Row, new: Row) -> None:
    """Put ``new`` in the place of ``old``."""
    rows[rows.index(old)] = new


def flip(history: Synthetic, marked: Iterable[Segment]) -> None:
    """Commit markers become abort markers, and the reverse; readers see it."""
    for segment in marked:
        other = replace(segment.marker, control="ABORT" if segment.committed else "COMMIT")
        swap(history.log, segment.marker, other)
    history.read_again()


def insert(history: Synthetic, record: LogRecord) -> None:
    """Put a record into the log at its offset; whatever is behind it moves on by one."""
    make_room(history, (record.topic, record.partition), record.offset)
    before = [one for one in history.log if (one.topic, one.partition) == (record.topic, record.partition)]
    after = next((one for one in before if one.offset > record.offset), None)
    place = history.log.index(after) if after else history.log.index(before[-1]) + 1 if before else len(history.log)
    history.log.insert(place, record)


def make_room(history: Synthetic, place: Place, at: int) -> None:
    """Every offset of the place from ``at`` on becomes one more, wherever it is told."""
    assert not is_input(history, place), "relayed payloads name offsets of inputs, and are not rewritten"

    def record(offset: int) -> int:
        return offset + (offset >= at)

    def end(offset: int) -> int:
        return offset + (offset > at)

    def told(row: Operation) -> Operation:
        return row if row.offset is None or row.verb != "produce" else replace(row, offset=record(row.offset))

    def read_to(row: ReaderEnd) -> ReaderEnd:
        return replace(row, end_offset=record(row.end_offset), wanted=record(row.wanted or 0))

    there = partial(_at, place)
    history.log = there(
        history.log, lambda row: replace(row, offset=record(row.offset), batch_offset=record(row.batch_offset))
    )
    history.reads = there(history.reads, lambda row: replace(row, offset=record(row.offset)))
    history.readers = there(history.readers, read_to)
    history.operations = there(history.operations, told)
    history.levels = there(history.levels, lambda row: _levelled(row, end))
    history.levels[_last_level(history, place)] = _levelled(history.levels[_last_level(history, place)], record)
    history.partitions = there(history.partitions, lambda row: _levelled(row, record))


def _at(place: Place, rows: Sequence[Placed], change: Callable[[Placed], Placed]) -> list[Placed]:
    return [change(row) if (row.topic, row.partition) == place else row for row in rows]


def _levelled(row: Levelled, moved: Callable[[int], int]) -> Levelled:
    high, stable = moved(row.high_watermark), moved(row.last_stable_offset)
    return replace(row, high_watermark=high, last_stable_offset=stable)


def _last_level(history: Synthetic, place: Place) -> int:
    """Where the level is that was read in the drain; it tells the partition's end."""
    return max(nth for nth, level in enumerate(history.levels) if (level.topic, level.partition) == place)


def set_stable(history: Synthetic, place: Place, offset: int, *, level: int | None = None) -> None:
    """The broker tells another last stable offset, by both ways of asking; by another one where ``level`` is given."""
    end, last = end_of(history, place), _last_level(history, place)
    swap(history.partitions, end, replace(end, last_stable_offset=offset))
    history.levels[last] = replace(
        history.levels[last], high_watermark=end.high_watermark, last_stable_offset=offset if level is None else level
    )


def end_of(history: Synthetic, place: Place) -> PartitionEnd:
    """The partition's end."""
    return next(end for end in history.partitions if (end.topic, end.partition) == place)


def read_only_to(history: Synthetic, place: Place, offset: int) -> None:
    """The readers come no further than ``offset``, and deliver nothing from there on."""
    ends = {end.reader for end in history.readers}
    history.readers = _at(place, history.readers, lambda end: replace(end, end_offset=offset))
    without(
        history,
        [
            read
            for read in history.reads
            if read.reader in ends and (read.topic, read.partition) == place and read.offset >= offset
        ],
    )


def without(history: Synthetic, gone: Iterable[Read]) -> None:
    """The reads without some; those that are left are numbered again."""
    left = list(history.reads)
    for read in gone:
        left.remove(read)
    history.reads = numbered(left)


def numbered(reads: Sequence[Read]) -> list[Read]:
    """Positions in a row for each reader that has them."""
    counts: dict[str, int] = {}
    fresh = []
    for read in reads:
        if read.position is not None:
            counts[read.reader] = counts.get(read.reader, -1) + 1
            fresh.append(replace(read, position=counts[read.reader]))
        else:
            fresh.append(read)
    return fresh
