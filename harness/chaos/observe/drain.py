"""The drain: after the run has settled, everything that the judge needs is read and written to the history.

The log is read raw, and brokers are asked what they keep (ends, producer states, transactions, groups' offsets); then
each reader reads the same partitions from their beginnings as a read_committed client, up to the high watermark that
was found. Of what cannot be read there is a note instead of rows: of a partition the judge's verdict is then UNDECIDED,
and what brokers keep is not compared with anything.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Literal, TypeAlias

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.wait import Patience
from harness.chaos.observe.changed_offers import changed_offers
from harness.chaos.observe.coordinators_log import CoordinatorsLog
from harness.chaos.observe.kept_transactions import KeptByCoordinators
from harness.chaos.observe.situation_evidence import MachineTime, leader_terms
from harness.clients.librdkafka import full_log_reader as librdkafka
from harness.evidence.history.changed_offer import ChangedOffer
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import GroupOffset, OpenProducer, Read, ReaderEnd
from harness.evidence.history.unanswered_request import UnansweredRequest
from harness.evidence.situations.recorded import LeaderTerm, StateRecord
from harness.kafka import wire_log_reader
from harness.kafka.leader_client import LeaderClient, Unreachable, require_success
from harness.kafka.raw_log import read_raw
from harness.kafka.wire_log_reader import MAX_BYTES, Deliver, FetchAccount
from harness.wire.offered import Offered
from harness.wire.requests.groups.find_coordinator import GROUP
from harness.wire.requests.groups.offset_fetch import NO_OFFSET, OffsetFetch
from harness.wire.requests.log.fetch import Fetch
from harness.wire.requests.transactions.describe_producers import DescribeProducers
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from harness.wire.requests.transactions.list_transactions import ListTransactions
from harness.wire.security.security import PLAINTEXT, Security
from harness.wire.topic_partitions import TopicPartition, partition_name

FETCH_BYTES = (MAX_BYTES, 65_536, 8_192)
"""``max.partition.fetch.bytes`` of readers: the Java client's own, and such that a transaction spans many answers."""
EVENTS_AT_A_TIME = 5_000
"""Handed to the history's writer."""

ReadAll: TypeAlias = Callable[[Mapping[TopicPartition, int], Deliver], Mapping[TopicPartition, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is drained, and over which addresses.

    :param partitions: Every partition of the run.
    :param transactional_ids: Of the run, as the cluster knows them.
    :param groups: Consumer groups of the run, likewise.
    :param states_of: What the transactional ids begin with whose records in the coordinators' log are read; None: none.
    :param broker_addresses: Brokers' addresses for the raw log and for the state that brokers keep.
    :param reader_addresses: Brokers' addresses for the readers; None: the same.
    :param security: How clients connect to brokers.
    :param reader_security: How readers do; None: the same.
    :param fetch_bytes: What the readers ask for at a time: with little, a transaction spans many answers.
    :param reader_group: The group's name that librdkafka's reader goes by.
    :param offered: What brokers advertised before the run, of those that are to advertise the same after it.
    """

    partitions: Sequence[TopicPartition]
    broker_addresses: Mapping[int, Address]
    reader_addresses: Mapping[int, Address] | None = None
    security: Security = PLAINTEXT
    reader_security: Security | None = None
    fetch_bytes: int = MAX_BYTES
    reader_group: str = "fencepost-drain"
    transactional_ids: Sequence[str] = ()
    groups: Sequence[str] = ()
    states_of: str | None = None
    offered: Mapping[int, Offered] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Drained:
    """The result of a drain.

    :param high_watermarks: Of each partition that could be read. :param stable_offsets: Likewise, the last stable ones.
    :param terms: Of each partition's leaders.
    :param states: Of the coordinators' log. :param lacking: Why it could not be read.
    :param asked: Partitions whose leader told of its producers.
    :param notes: What could not be read, a sentence each. :param unanswered: The same for the judge.
    :param changed: What brokers advertise otherwise than before.
    :param fetches: What the wire reader's answers were like.
    """

    high_watermarks: dict[TopicPartition, int] = field(default_factory=dict)
    stable_offsets: dict[TopicPartition, int] = field(default_factory=dict)
    terms: list[LeaderTerm] = field(default_factory=list)
    states: list[StateRecord] = field(default_factory=list)
    lacking: str = ""
    asked: list[TopicPartition] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unanswered: list[UnansweredRequest] = field(default_factory=list)
    changed: Sequence[ChangedOffer] = ()
    fetches: FetchAccount = field(default_factory=FetchAccount)


def drain(scope: Scope, history_journal: HistoryJournal, clock: RunClock, *, timeout_seconds: float = 10.0) -> Drained:
    """Read everything in the scope; never raises for a broker that is away.

    :param timeout_seconds: Seconds for each single answer, and those that a reader may go without getting any further.
        Fewer for what brokers keep, once others of its kind were waited for in vain: a round has hundreds of ids.
    """
    drained, kept_within = Drained(), partial(Patience().within, timeout_seconds, in_vain=Unreachable)
    leader_client = LeaderClient.over(scope.broker_addresses, clock, security=scope.security)
    try:
        for partition in scope.partitions:
            with _noting(drained, Fetch.api, partition_name(*partition)):
                _log(leader_client, partition, history_journal, clock, drained, timeout_seconds)
        for partition in drained.high_watermarks:
            name = partition_name(*partition)
            with _noting(drained, DescribeProducers.api, name), kept_within(DescribeProducers.api) as bound:
                _producers(leader_client, partition, history_journal, bound)
                drained.asked.append(partition)
        kept = KeptByCoordinators(leader_client=leader_client, log=_coordinators_log(leader_client, scope, clock))
        _transactions(kept, scope, history_journal, drained, kept_within)
        for group in scope.groups:
            with _noting(drained, OffsetFetch.api, group), kept_within(OffsetFetch.api) as bound:
                _offsets(leader_client, group, scope.partitions, history_journal, bound)
        drained.changed = changed_offers(leader_client, scope.offered, within_seconds=timeout_seconds)
    finally:
        leader_client.close()
    _readers(scope, drained, history_journal, clock, timeout_seconds)
    return drained


@contextmanager
def _noting(drained: Drained, api: str, of: str) -> Iterator[None]:
    """What cannot be read in the block becomes a note, and evidence of what was asked, and for how long, in vain."""
    started = time.monotonic()
    try:
        yield
    except Unreachable as away:
        drained.notes.append(str(away))
        drained.unanswered.append(
            UnansweredRequest(api=api, of=of, error=away.error, waited_ms=_milliseconds_since(started))
        )


def _log(
    leader_client: LeaderClient,
    partition: TopicPartition,
    history_journal: HistoryJournal,
    clock: RunClock,
    drained: Drained,
    timeout_seconds: float,
) -> None:
    raw = read_raw(leader_client, partition, clock, timeout_seconds=timeout_seconds)
    _write(history_journal, raw.records())
    drained.terms += leader_terms(partition, raw.batches, clock)
    drained.high_watermarks[partition] = raw.end.high_watermark
    drained.stable_offsets[partition] = raw.end.last_stable_offset
    if raw.still:
        history_journal.write(raw.end, raw.watermarks)
    else:  # offsets of different moments do not belong together: its end is not written
        drained.notes.append(f"{partition_name(*partition)} still changed {timeout_seconds:g} s after settling")


def _producers(
    leader_client: LeaderClient, partition: TopicPartition, history_journal: HistoryJournal, timeout_seconds: float
) -> None:
    topic, index = partition
    result = leader_client.at_leader(
        partition, DescribeProducers(topic=topic, partition=index), timeout_seconds=timeout_seconds
    )
    require_success(result.error, f"DescribeProducers of {partition_name(*partition)}")
    history_journal.write(
        *(
            OpenProducer(
                topic=topic,
                partition=index,
                producer_id=kept["producer_id"],
                epoch=kept["producer_epoch"],
                transaction_start_offset=kept["current_txn_start_offset"],
                last_timestamp_ms=kept["last_timestamp"],
                last_sequence=kept["last_sequence"],
                coordinator_epoch=kept["coordinator_epoch"],
            )
            for kept in result.producers
        )
    )


def _coordinators_log(leader_client: LeaderClient, scope: Scope, clock: RunClock) -> CoordinatorsLog | None:
    if scope.states_of is None:
        return None
    log = CoordinatorsLog(leader_client=leader_client, machine=MachineTime.of(clock), prefix=scope.states_of)
    log.read_on()
    return log


def _transactions(
    kept: KeptByCoordinators,
    scope: Scope,
    history_journal: HistoryJournal,
    drained: Drained,
    kept_within: Callable[[str], AbstractContextManager[float]],
) -> None:
    """What every id's coordinator describes, what all brokers list of those ids, and what was written of them."""
    for each in scope.transactional_ids:
        with _noting(drained, DescribeTransactions.api, each), kept_within(DescribeTransactions.api) as bound:
            kept.describe(each, bound)
    if kept.described:
        with _noting(drained, ListTransactions.api, "every broker"), kept_within(ListTransactions.api) as bound:
            kept.compare(bound)
    history_journal.write(*kept.rows())
    if kept.log is not None:
        drained.states, drained.lacking = kept.log.states, kept.log.lacking


def _offsets(
    leader_client: LeaderClient,
    group: str,
    partitions: Sequence[TopicPartition],
    history_journal: HistoryJournal,
    timeout_seconds: float,
) -> None:
    request = OffsetFetch(group=group, partitions=partitions)
    result = leader_client.at_coordinator(group, request, key_type=GROUP, timeout_seconds=timeout_seconds)
    require_success(result.error, f"OffsetFetch of {group}")
    offsets = ((each, result.offsets.get(partition_name(*each), NO_OFFSET)) for each in partitions)
    history_journal.write(
        *(GroupOffset(group=group, topic=topic, partition=index, offset=offset) for (topic, index), offset in offsets)
    )


def _readers(
    scope: Scope,
    drained: Drained,
    history_journal: HistoryJournal,
    clock: RunClock,
    timeout_seconds: float,
) -> None:
    """All readers at once, each in a thread, so that only the longest wait counts."""
    addresses = scope.broker_addresses if scope.reader_addresses is None else scope.reader_addresses
    security = scope.security if scope.reader_security is None else scope.reader_security
    bootstrap = ",".join(map(str, addresses.values()))

    def by_wire(wanted: Mapping[TopicPartition, int], deliver: Deliver) -> Mapping[TopicPartition, int]:
        leader_client = LeaderClient.over(addresses, clock, security=security)
        try:
            return wire_log_reader.read_committed(
                leader_client,
                wanted,
                timeout_seconds=timeout_seconds,
                deliver=deliver,
                max_bytes=scope.fetch_bytes,
                account=drained.fetches,
            )
        finally:
            leader_client.close()

    def by_librdkafka(wanted: Mapping[TopicPartition, int], deliver: Deliver) -> Mapping[TopicPartition, int]:
        return librdkafka.read_committed(
            bootstrap,
            wanted,
            timeout_seconds=timeout_seconds,
            deliver=deliver,
            security=security,
            group=scope.reader_group,
            fetch_bytes=scope.fetch_bytes,
        )

    with ThreadPoolExecutor(2) as threads:
        readers = [
            threads.submit(_reader, "wire", by_wire, drained.high_watermarks, history_journal),
            threads.submit(_reader, "librdkafka", by_librdkafka, drained.high_watermarks, history_journal),
        ]
        for reader in readers:
            reader.result()


def _reader(
    kind: Literal["wire", "librdkafka"],
    read: ReadAll,
    wanted: Mapping[TopicPartition, int],
    history_journal: HistoryJournal,
) -> None:
    """One reader's deliveries and ends, under its kind as its name."""
    count = 0

    def deliver(records: Sequence[DeliveredRecord]) -> None:
        nonlocal count
        rows = (
            Read(reader=kind, topic=topic, partition=index, offset=offset, value=value, position=position)
            for position, (topic, index, offset, value) in enumerate(records, start=count)
        )
        _write(history_journal, rows)
        count += len(records)

    started = time.monotonic()
    ends = read(wanted, deliver)
    waited = _milliseconds_since(started)
    history_journal.write(
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


def _milliseconds_since(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 3)


def _write(history_journal: HistoryJournal, events: Iterable[object]) -> None:
    rest = iter(events)
    while batch := tuple(islice(rest, EVENTS_AT_A_TIME)):
        history_journal.write(*batch)
