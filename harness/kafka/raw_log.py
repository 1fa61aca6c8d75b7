"""The one raw reader of a log: whole batches, control batches among them, from offset to offset.

:func:`read_raw` reads all of a partition for the judge. High watermark and last stable offset, as ListOffsets and Fetch
answer them, must be those of the very log that was read: a partition that changed meanwhile is read again.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from harness.base.clock import RunClock
from harness.base.kafka_error import error_name
from harness.evidence.history.operation import LogRecord, PartitionEnd, WatermarkSample
from harness.kafka.leader_client import LeaderClient, Unreachable, require_success
from harness.wire.records.record_batch import LogBatch, text
from harness.wire.requests.log.fetch import READ_COMMITTED, READ_UNCOMMITTED, Fetch, FetchResult
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks
from harness.wire.requests.log.list_offsets import EARLIEST, LATEST, ListOffsets
from harness.wire.topic_partitions import TopicPartition, partition_name

MAX_BYTES = 4 << 20
"""Of one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawLog:
    """What was read.

    :param still: Whether nothing changed while it was read.
    """

    end: PartitionEnd
    watermarks: WatermarkSample
    batches: tuple[LogBatch, ...]
    still: bool

    def records(self) -> Iterator[LogRecord]:
        """Records and transaction markers in log order, without other control records."""
        for batch in self.batches:
            yield from _rows((self.end.topic, self.end.partition), batch)


def fetch_all(fetch: Callable[[int], FetchResult], offset: int) -> Iterator[FetchResult]:
    """The answers to one Fetch after the other, each from where the last one ended, until one brings nothing.

    :param fetch: Fetches from an offset; raises for an error.
    """
    while True:
        result = fetch(offset)
        yield result
        if result.next_offset <= offset:
            return
        offset = result.next_offset


def read_raw(
    leader_client: LeaderClient, topic_partition: TopicPartition, clock: RunClock, *, timeout_seconds: float
) -> RawLog:
    """Read all of a partition.

    :param timeout_seconds: Seconds after which a partition that still changes is taken as it is, and each answer's
        bound.
    :raises Unreachable: When the partition cannot be read.
    """
    deadline = time.monotonic() + timeout_seconds
    batches: list[LogBatch] = []
    while True:
        leader_client.leader(topic_partition)
        epoch = leader_client.leader_epoch(topic_partition)
        end = partition_end(leader_client, topic_partition, clock, timeout_seconds)
        offset = max(batches[-1].last_offset + 1 if batches else 0, end.log_start_offset)
        batches += _batches(leader_client, topic_partition, offset, end.high_watermark, timeout_seconds)
        watermarks = _watermarks(leader_client, topic_partition, end.log_start_offset, clock, timeout_seconds)
        same = _offsets(partition_end(leader_client, topic_partition, clock, timeout_seconds)) == _offsets(end)
        still = same and leader_client.leader_epoch(topic_partition) == epoch  # another leader tells of another log
        if still or time.monotonic() >= deadline:
            return RawLog(end=end, watermarks=watermarks, batches=tuple(batches), still=still)


def partition_end(
    leader_client: LeaderClient, topic_partition: TopicPartition, clock: RunClock, timeout_seconds: float
) -> PartitionEnd:
    """What ListOffsets answers now under both isolation levels; :raises Unreachable: when no broker answers."""
    topic, index = topic_partition

    def offset(timestamp: int, isolation: int) -> int:
        return _listed(leader_client, topic_partition, timestamp, isolation, timeout_seconds)

    leader = leader_client.leader(topic_partition)
    return PartitionEnd(
        log_start_offset=offset(EARLIEST, READ_UNCOMMITTED),
        high_watermark=offset(LATEST, READ_UNCOMMITTED),
        last_stable_offset=offset(LATEST, READ_COMMITTED),
        leader=-1 if leader is None else leader,
        at=clock.now(),
        topic=topic,
        partition=index,
    )


def log_start(leader_client: LeaderClient, topic_partition: TopicPartition, timeout_seconds: float = 0) -> int:
    """Where the log begins, at the leader; :raises Unreachable: when no broker answers."""
    return _listed(leader_client, topic_partition, EARLIEST, READ_UNCOMMITTED, timeout_seconds)


def _listed(
    leader_client: LeaderClient,
    topic_partition: TopicPartition,
    timestamp: int,
    isolation: int,
    timeout_seconds: float,
) -> int:
    topic, index = topic_partition
    request = ListOffsets(topic=topic, partition=index, timestamp=timestamp, isolation=isolation)
    result = leader_client.at_leader(topic_partition, request, timeout_seconds=timeout_seconds)
    require_success(result.error, f"ListOffsets of {partition_name(topic, index)}")
    return result.offset


def compacted_away(
    leader_client: LeaderClient, topic_partition: TopicPartition, clock: RunClock, *, timeout_seconds: float
) -> tuple[int, int]:
    """How many records the leader's log lacks between its beginning and its high watermark, and how many it spans.

    Of a log without control batches and without aborted appends, as a coordinator's, that is what the cleaner removed,
    which never touches the segment that is written to (``LogCleanerManager.cleanableOffsets``).

    :raises Unreachable: When the partition cannot be read.
    """
    end = partition_end(leader_client, topic_partition, clock, timeout_seconds)
    begin, upto = end.log_start_offset, end.high_watermark
    batches = _batches(leader_client, topic_partition, begin, upto, timeout_seconds)
    there = sum(record.offset < upto for batch in batches for record in batch.records)
    return upto - begin - there, upto - begin


def _offsets(end: PartitionEnd) -> tuple[int, int, int]:
    return end.log_start_offset, end.high_watermark, end.last_stable_offset


def _watermarks(
    leader_client: LeaderClient,
    topic_partition: TopicPartition,
    log_start_offset: int,
    clock: RunClock,
    timeout_seconds: float,
) -> WatermarkSample:
    request = FetchWatermarks(partitions=(topic_partition,), log_starts={topic_partition: log_start_offset})
    result = leader_client.at_leader(topic_partition, request, timeout_seconds=timeout_seconds)
    if topic_partition not in result.watermarks:
        raise Unreachable(f"Fetch of {partition_name(*topic_partition)} answered {error_name(result.error)}")
    high_watermark, last_stable_offset = result.watermarks[topic_partition]
    return WatermarkSample(
        at=clock.now(),
        topic=topic_partition[0],
        partition=topic_partition[1],
        high_watermark=high_watermark,
        last_stable_offset=last_stable_offset,
    )


def _batches(
    leader_client: LeaderClient, topic_partition: TopicPartition, offset: int, end: int, timeout_seconds: float
) -> Iterator[LogBatch]:
    """The batches from ``offset`` on, until ``end`` is read; :raises Unreachable: when the log ends before."""
    topic, index = topic_partition

    def fetch(offset: int) -> FetchResult:
        request = Fetch(topic=topic, partition=index, offset=offset, max_bytes=MAX_BYTES)
        result = leader_client.at_leader(topic_partition, request, timeout_seconds=timeout_seconds)
        if result.error or result.next_offset <= offset:
            answer = error_name(result.error) if result.error else "nothing"
            raise Unreachable(f"Fetch of {partition_name(topic, index)} at {offset} below {end} answered {answer}")
        return result

    answers = fetch_all(fetch, offset) if offset < end else ()
    for result in answers:
        yield from result.batches
        if result.next_offset >= end:
            return


def _rows(topic_partition: TopicPartition, batch: LogBatch) -> Iterator[LogRecord]:
    """A row for each record, or one for a transaction marker; none for other control records."""
    topic, index = topic_partition
    row = partial(
        LogRecord,
        topic=topic,
        partition=index,
        batch_offset=batch.base_offset,
        producer_id=batch.producer_id,
        epoch=batch.producer_epoch,
        transactional=batch.transactional,
    )
    if not batch.is_control:
        for nth, record in enumerate(batch.records):
            sequence = -1 if batch.base_sequence < 0 else batch.base_sequence + nth
            value, time_ms = text(record.value), record.timestamp_ms
            yield row(offset=record.offset, sequence=sequence, value=value, timestamp_ms=time_ms)
    elif batch.marker is not None:
        control, epoch = batch.marker
        at, time_ms = batch.base_offset, batch.base_timestamp_ms
        yield row(offset=at, sequence=-1, control=control, coordinator_epoch=epoch, timestamp_ms=time_ms)
