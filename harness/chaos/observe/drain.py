"""The drain: after the run has settled, everything that the judge needs is read and written to the chronicle.

The log is read raw, and the broker is asked what it keeps (ends, producer states, transactions, groups' offsets); then
each reader reads the same partitions from their beginnings as a read_committed client, up to the high watermark that
was found. What cannot be read leaves its rows out and a note: the judge then says UNDECIDED, never clean.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, TypeAlias

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.kafka_error import error_name
from harness.clients.librdkafka import full_log_reader as librdkafka
from harness.evidence.delivered_record import DeliveredRecord
from harness.evidence.history_writer import HistoryWriter
from harness.evidence.operation import GroupOffset, KeptTransaction, OpenProducer, Read, ReaderEnd
from harness.kafka import wire_log_reader
from harness.kafka.leader_client import LeaderClient, TopicPartition, Unreachable
from harness.kafka.raw_log import read_raw
from harness.wire.requests.groups.find_coordinator import GROUP
from harness.wire.requests.groups.offset_fetch import OffsetFetch
from harness.wire.requests.transactions.describe_producers import DescribeProducers
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from harness.wire.topic_partitions import partition_name

AT_ONCE = 5_000
"""Events handed to the chronicle at a time."""
UNKNOWN_ID = 105
"""TRANSACTIONAL_ID_NOT_FOUND: the coordinator keeps nothing, which is an answer."""

Deliver: TypeAlias = Callable[[Sequence[DeliveredRecord]], None]
ReadAll: TypeAlias = Callable[[Mapping[TopicPartition, int], Deliver], Mapping[TopicPartition, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is drained, and over which addresses.

    :param places: Every partition of the run.
    :param transactional_ids: Of the run, as the cluster knows them.
    :param groups: Consumer groups of the run, likewise.
    :param truth: Brokers' addresses for the log and for what brokers say of themselves.
    :param readers: Brokers' addresses for the readers; those of ``truth`` without them.
    """

    places: Sequence[TopicPartition]
    truth: Mapping[int, Address]
    readers: Mapping[int, Address] | None = None
    transactional_ids: Sequence[str] = ()
    groups: Sequence[str] = ()


@dataclass(slots=True, kw_only=True)
class Drained:
    """What came of it.

    :param high_watermarks: Of each partition that could be read.
    :param notes: What could not be read, a sentence each.
    """

    high_watermarks: dict[TopicPartition, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def drain(scope: Scope, history_writer: HistoryWriter, clock: RunClock, *, within: float = 10.0) -> Drained:
    """Read everything in the scope; never raises for a broker that is away.

    :param within: Seconds for each single answer, and those that a reader may go without getting any further.
    """
    drained = Drained()
    leader_client = LeaderClient.over(scope.truth, clock)
    try:
        for place in scope.places:
            _noted(drained, lambda place=place: _log(leader_client, place, history_writer, clock, drained, within))  # type: ignore[misc]
        for place in drained.high_watermarks:
            _noted(drained, lambda place=place: _producers(leader_client, place, history_writer, within))  # type: ignore[misc]
        for one in scope.transactional_ids:
            _noted(drained, lambda one=one: _transaction(leader_client, one, history_writer, within))  # type: ignore[misc]
        for group in scope.groups:
            _noted(drained, lambda group=group: _offsets(leader_client, group, scope.places, history_writer, within))  # type: ignore[misc]
    finally:
        leader_client.close()
    _readers(scope, drained.high_watermarks, history_writer, clock, within)
    return drained


def _noted(drained: Drained, read: Callable[[], None]) -> None:
    try:
        read()
    except Unreachable as away:
        drained.notes.append(str(away))


def _log(
    leader_client: LeaderClient,
    place: TopicPartition,
    history_writer: HistoryWriter,
    clock: RunClock,
    drained: Drained,
    within: float,
) -> None:
    raw = read_raw(leader_client, place, clock, within=within)
    _write(history_writer, raw.records())
    drained.high_watermarks[place] = raw.end.high_watermark
    if raw.still:
        history_writer.write(raw.end, raw.level)
    else:  # what was told at different moments does not belong together: nothing is said of its end
        drained.notes.append(f"{partition_name(*place)} still changed {within:g} s after settling")


def _producers(
    leader_client: LeaderClient, place: TopicPartition, history_writer: HistoryWriter, within: float
) -> None:
    topic, index = place
    result = leader_client.at_leader(place, DescribeProducers(topic=topic, partition=index), within=within)
    _demand(result.error, f"DescribeProducers of {partition_name(*place)}")
    history_writer.write(
        *(
            OpenProducer(
                topic=topic,
                partition=index,
                producer_id=kept["producer_id"],
                epoch=kept["producer_epoch"],
                transaction_start_offset=kept["current_txn_start_offset"],
                last_timestamp_ms=kept["last_timestamp"],
            )
            for kept in result.producers
        )
    )


def _transaction(
    leader_client: LeaderClient, transactional_id: str, history_writer: HistoryWriter, within: float
) -> None:
    asked = DescribeTransactions(transactional_id=transactional_id)
    kept = leader_client.at_coordinator(transactional_id, asked, within=within)
    if kept.error == UNKNOWN_ID:
        return
    _demand(kept.error, f"DescribeTransactions of {transactional_id}")
    history_writer.write(
        KeptTransaction(
            transactional_id=transactional_id,
            state=kept.state,
            producer_id=kept.producer_id,
            epoch=kept.producer_epoch,
            timeout_ms=kept.timeout_ms,
            started_ms=kept.start_time_ms,
            partitions=",".join(kept.partitions),
        )
    )


def _offsets(
    leader_client: LeaderClient,
    group: str,
    places: Sequence[TopicPartition],
    history_writer: HistoryWriter,
    within: float,
) -> None:
    result = leader_client.at_coordinator(group, OffsetFetch(group=group, partitions=places), of=GROUP, within=within)
    _demand(result.error, f"OffsetFetch of {group}")
    offsets = ((place, result.offsets.get(partition_name(*place), -1)) for place in places)
    history_writer.write(
        *(GroupOffset(group=group, topic=topic, partition=index, offset=offset) for (topic, index), offset in offsets)
    )


def _demand(error: int, what: str) -> None:
    if error:
        raise Unreachable(f"{what} answered {error_name(error)}")


def _readers(
    scope: Scope, wanted: Mapping[TopicPartition, int], history_writer: HistoryWriter, clock: RunClock, within: float
) -> None:
    """All readers at once, each in a thread: a stuck one costs its bound only once."""
    addresses = scope.truth if scope.readers is None else scope.readers
    bootstrap = ",".join(map(str, addresses.values()))

    def by_wire(wanted: Mapping[TopicPartition, int], deliver: Deliver) -> Mapping[TopicPartition, int]:
        leader_client = LeaderClient.over(addresses, clock)
        try:
            return wire_log_reader.read_committed(leader_client, wanted, within=within, deliver=deliver)
        finally:
            leader_client.close()

    def by_librdkafka(wanted: Mapping[TopicPartition, int], deliver: Deliver) -> Mapping[TopicPartition, int]:
        return librdkafka.read_committed(bootstrap, wanted, within=within, deliver=deliver)

    with ThreadPoolExecutor(2) as threads:
        readers = [
            threads.submit(_reader, "wire", by_wire, wanted, history_writer),
            threads.submit(_reader, "librdkafka", by_librdkafka, wanted, history_writer),
        ]
        for reader in readers:
            reader.result()


def _reader(
    kind: Literal["wire", "librdkafka"],
    read: ReadAll,
    wanted: Mapping[TopicPartition, int],
    history_writer: HistoryWriter,
) -> None:
    """One reader's deliveries and ends; it is called by its kind."""
    count = 0

    def deliver(records: Sequence[DeliveredRecord]) -> None:
        nonlocal count
        rows = (
            Read(reader=kind, topic=topic, partition=index, offset=offset, value=value, position=position)
            for position, (topic, index, offset, value) in enumerate(records, start=count)
        )
        _write(history_writer, rows)
        count += len(records)

    started = time.monotonic()
    ends = read(wanted, deliver)
    waited = round((time.monotonic() - started) * 1000, 3)
    history_writer.write(
        *(
            ReaderEnd(
                reader=kind,
                kind=kind,
                isolation="read_committed",
                topic=topic,
                partition=index,
                end_offset=ends[topic, index],
                wanted=end,
                waited_ms=waited,
            )
            for (topic, index), end in wanted.items()
        )
    )


def _write(history_writer: HistoryWriter, events: Iterable[object]) -> None:
    rest = iter(events)
    while batch := tuple(islice(rest, AT_ONCE)):
        history_writer.write(*batch)
