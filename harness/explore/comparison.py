"""What was answered and seen in a cell against everything that the model allows: pure, without a network."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from harness.explore.cell_results import CellSeen, Difference, SeenId, SeenProducer, SeenStart
from harness.explore.looks.group_look import ShownOffset
from harness.model.coordinator_log import TAGGED, CoordinatorRecord, Records
from harness.model.events.write_events import WriteWaits, let_go
from harness.model.groups import group_model
from harness.model.model_requests import ModelAnswer, ModelRequest
from harness.model.model_state import NONE, LogEntry, ModelCluster, PartitionLog
from harness.model.protocol_profile import ProtocolProfile
from harness.model.protocol_step import ModelOutcome, outcomes, settled

UNKNOWN = "TRANSACTIONAL_ID_NOT_FOUND"
NOTHING = "nothing"


def compare(
    before: ModelCluster,
    asked: ModelRequest,
    profile: ProtocolProfile,
    seen: CellSeen,
    waits: WriteWaits | None = None,
) -> tuple[Difference, ...]:
    """What the allowed outcome that fits best does not explain; () where one explains all.

    :param waits: The write that was under way meanwhile.
    """
    allowed = outcomes(before, asked, profile)
    found = (tuple(_outcome_differences(before, each, profile, seen, waits)) for each in allowed)
    return min(found, key=len)


def compare_records(expected: Records, seen: CellSeen) -> tuple[Difference, ...]:
    """What coordinators have written that they should not, or have not; () where that was not looked at."""
    read = {} if seen.records is None else seen.records
    found = (
        _unequal(f"records of {name}", _records_text(expected.get(name, ())), _records_text(records))
        for name, records in sorted(read.items())
    )
    return tuple(chain.from_iterable(found))


def _outcome_differences(
    before: ModelCluster, outcome: ModelOutcome, profile: ProtocolProfile, seen: CellSeen, waits: WriteWaits | None
) -> Iterator[Difference]:
    after = settled(outcome.after, profile)
    if waits is not None:
        finished = let_go(before, after, waits, profile)
        after = settled(finished.after, profile)
        told = NOTHING if seen.waited is None else seen.waited.error
        yield from _unequal("answer of the write that waited", finished.answer.error, told)
    yield from _differences(outcome.answer, after, seen)


def _differences(answer: ModelAnswer, after: ModelCluster, seen: CellSeen) -> Iterator[Difference]:
    yield from _unequal("answer", answer.error, seen.answer.error)
    yield from _unequal("identity", _identity(answer), _identity(seen.answer))
    for name, offset in sorted(seen.groups.items()):
        yield from _unequal(f"offset of {name}", _offset_text(expected_offset(after, name)), _offset_text(offset))
    for name, shown in sorted(seen.ids.items()):
        yield from _unequal(f"coordinator of {name}", _id_text(expected_id(after, name)), _id_text(shown))
    for name, log in sorted(seen.logs.items()):
        expected = after.log(name)
        yield from _producers(name, expected, {each.producer_id: each for each in log.producers})
        yield from _unequal(f"log of {name}", _log_text(expected.entries), _log_text(log.entries))


def _unequal(part: str, expected: str, seen: str) -> Iterator[Difference]:
    if expected != seen:
        yield Difference(part=part, expected=expected, seen=seen)


def expected_offset(after: ModelCluster, name: str) -> ShownOffset:
    """What OffsetFetch shows in the model."""
    group = after.groups[name]
    error, _ = group_model.shown(group, stable=True)
    _, offset = group_model.shown(group, stable=False)
    return ShownOffset(offset=offset, stable=error == "NONE")


def _offset_text(shown: ShownOffset) -> str:
    offset = NOTHING if shown.offset == NONE else str(shown.offset)
    return offset if shown.stable else f"{offset}, {group_model.UNSTABLE} with require_stable"


def expected_id(after: ModelCluster, name: str) -> SeenId:
    """What DescribeTransactions shows in the model."""
    known = after.ids.get(name)
    if known is None:
        return SeenId(error=UNKNOWN)
    return SeenId(
        state=str(known.state),
        producer_id=known.producer_id,
        epoch=known.epoch,
        partitions=known.partitions,
        timeout_ms=known.timeout_ms,
    )


def _producers(name: str, expected: PartitionLog, shown: Mapping[int, SeenProducer]) -> Iterator[Difference]:
    for producer_id in sorted({*expected.producers, *shown}):
        part = f"leader of {name}"
        yield from _unequal(
            part,
            _producer_text(producer_id, _expected_producer(expected, producer_id)),
            _producer_text(producer_id, shown.get(producer_id)),
        )


def _expected_producer(log: PartitionLog, producer_id: int) -> SeenProducer | None:
    known = log.producers.get(producer_id)
    if known is None:
        return None
    return SeenProducer(
        producer_id=producer_id,
        epoch=known.epoch,
        last_sequence=known.last_sequence,
        open_since=known.open_since,
        coordinator_epoch=known.coordinator_epoch,
    )


def _identity(answer: ModelAnswer) -> str:
    return f"producer {answer.producer_id} epoch {answer.epoch}{answer.state and ', '}{answer.state}"


def _id_text(shown: SeenId) -> str:
    if shown.error != "NONE":
        return shown.error
    partitions = f" with {'+'.join(sorted(shown.partitions))}" if shown.partitions else ""
    timeout = "" if shown.timeout_ms == NONE else f", timeout {shown.timeout_ms} ms"
    start = "" if shown.start is SeenStart.KEPT else f", its start {shown.start}"
    return f"{shown.state}, producer {shown.producer_id} epoch {shown.epoch}{partitions}{timeout}{start}"


def _producer_text(producer_id: int, shown: SeenProducer | None) -> str:
    if shown is None:
        return f"producer {producer_id}: {NOTHING}"
    open_ = "nothing open" if shown.open_since is None else f"open since its entry {shown.open_since}"
    return (
        f"producer {producer_id}: epoch {shown.epoch}, last sequence {shown.last_sequence}, {open_},"
        f" coordinator epoch {shown.coordinator_epoch}"
    )


def _records_text(records: Iterable[CoordinatorRecord]) -> str:
    return "; ".join(map(record_text, records)) or NOTHING


def record_text(record: CoordinatorRecord) -> str:
    """A record, in words."""
    with_ = f" with {'+'.join(sorted(record.partitions))}" if record.partitions else ""
    timeout = "" if record.timeout_ms == NONE else f", timeout {record.timeout_ms} ms"
    text = f"v{record.layout} {record.state} {record.producer_id}/{record.epoch}{with_}{timeout}"
    if record.layout < TAGGED:
        return text
    ids = "" if record.previous_id == NONE else f", after producer {record.previous_id}"
    ids += "" if record.next_id == NONE else f", next producer {record.next_id}"
    return f"{text}{ids}, client of version {record.client_version}"


def _log_text(entries: tuple[LogEntry, ...]) -> str:
    return "; ".join(map(entry_text, entries)) or NOTHING


def entry_text(entry: LogEntry) -> str:
    """A batch or a marker, in words."""
    if entry.marker is None:
        value = f" {entry.value!r}" if entry.value else ""
        value += "" if entry.offset == NONE else f" offset {entry.offset}"
        return f"{entry.producer_id}/{entry.epoch} #{entry.sequence}{value}"
    return f"{entry.producer_id}/{entry.epoch} {'COMMIT' if entry.marker else 'ABORT'}"


def stable_offset(end: int, open_since: Mapping[int, int]) -> int:
    """The last stable offset that follows from what a leader shows of its producers: by producer id, since when open.

    Of a partition that many cells share (``UnifiedLog.firstUnstableOffset``).
    """
    return min(open_since.values(), default=end)


def held_wrongly(end: int, stable: int, open_since: Mapping[int, int]) -> int | None:
    """The offset at which a last stable offset contradicts its producers; None where it does not.

    Where it stands too early, that is where it stands; where it has passed an open transaction, that one's begin.
    """
    expected = stable_offset(end, open_since)
    return None if stable == expected else min(stable, expected)
