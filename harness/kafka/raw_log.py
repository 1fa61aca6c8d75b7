"""A partition as its leader keeps it: every batch up to the high watermark, and what it says of itself.

What is told of one partition belongs together: the high watermark and last stable offset of both ways of asking
(ListOffsets and Fetch) are those of the very log that was read. Where something still moves, it is read again.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from harness.base.clock import RunClock
from harness.evidence.operation import LogRecord, PartitionEnd, WatermarkSample
from harness.kafka.leader_client import LeaderClient, TopicPartition, Unreachable
from harness.wire.records.record_batch import LogBatch, text
from harness.wire.requests.log.fetch import READ_COMMITTED, READ_UNCOMMITTED
from harness.wire.requests.log.fetch_log import FetchLog
from harness.wire.requests.log.fetch_watermarks import BY_NAME, FetchWatermarks
from harness.wire.requests.log.list_offsets import EARLIEST, LATEST, ListOffsets

AT_ONCE = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RawLog:
    """What was read.

    :param still: Whether nothing moved while it was read.
    """

    end: PartitionEnd
    level: WatermarkSample
    batches: tuple[LogBatch, ...]
    still: bool

    def records(self) -> Iterator[LogRecord]:
        """Records and transaction markers in log order; other control records say nothing of transactions."""
        place = (self.end.topic, self.end.partition)
        for batch in self.batches:
            yield from _records(place, batch) if not batch.is_control else _marker(place, batch)


def read_raw(leader_client: LeaderClient, place: TopicPartition, clock: RunClock, *, within: float) -> RawLog:
    """Read all of a partition.

    :param within: Seconds after which a partition that still moves is taken as it is, and each answer's bound.
    :raises Unreachable: When the partition cannot be read.
    """
    deadline = time.monotonic() + within
    batches: list[LogBatch] = []
    position = 0
    while True:
        end = partition_end(leader_client, place, clock, within)
        for batch in _stretch(leader_client, place, max(position, end.log_start_offset), end.high_watermark, within):
            batches.append(batch)
            position = batch.last_offset + 1
        level = _level(leader_client, place, clock, within)
        still = _told(partition_end(leader_client, place, clock, within)) == _told(end)
        if still or time.monotonic() >= deadline:
            return RawLog(end=end, level=level, batches=tuple(batches), still=still)


def partition_end(leader_client: LeaderClient, place: TopicPartition, clock: RunClock, within: float) -> PartitionEnd:
    """What ListOffsets says now under both isolation levels; :raises Unreachable: when nobody answers."""
    topic, index = place

    def offset(timestamp: int, isolation: int) -> int:
        asked = ListOffsets(topic=topic, partition=index, timestamp=timestamp, isolation=isolation)
        result = leader_client.at_leader(place, asked, within=within)
        if result.error:
            raise Unreachable(f"ListOffsets of {topic}-{index} answered error {result.error}")
        return result.offset

    leader = leader_client.leader(place)
    return PartitionEnd(
        log_start_offset=offset(EARLIEST, READ_UNCOMMITTED),
        high_watermark=offset(LATEST, READ_UNCOMMITTED),
        last_stable_offset=offset(LATEST, READ_COMMITTED),
        leader=-1 if leader is None else leader,
        at=clock.now(),
        topic=topic,
        partition=index,
    )


def _told(end: PartitionEnd) -> tuple[int, int, int]:
    return end.log_start_offset, end.high_watermark, end.last_stable_offset


def _level(leader_client: LeaderClient, place: TopicPartition, clock: RunClock, within: float) -> WatermarkSample:
    result = leader_client.at_leader(place, FetchWatermarks(partitions=(place,)), cap=BY_NAME, within=within)
    if place not in result.levels:
        raise Unreachable(f"Fetch of {place[0]}-{place[1]} answered error {result.error}")
    high_watermark, last_stable_offset = result.levels[place]
    return WatermarkSample(
        at=clock.now(),
        topic=place[0],
        partition=place[1],
        high_watermark=high_watermark,
        last_stable_offset=last_stable_offset,
    )


def _stretch(
    leader_client: LeaderClient, place: TopicPartition, position: int, end: int, within: float
) -> Iterator[LogBatch]:
    """The batches from ``position`` on, until ``end`` is read; :raises Unreachable: when the log ends before."""
    while position < end:
        asked = FetchLog(topic=place[0], partition=place[1], offset=position, max_bytes=AT_ONCE)
        result = leader_client.at_leader(place, asked, cap=BY_NAME, within=within)
        if result.error or result.next_offset <= position:
            why = f"error {result.error}" if result.error else "nothing"
            raise Unreachable(f"Fetch of {place[0]}-{place[1]} at {position} below {end} answered {why}")
        yield from result.batches
        position = result.next_offset


def _records(place: TopicPartition, batch: LogBatch) -> Iterator[LogRecord]:
    for nth, record in enumerate(batch.records):
        yield LogRecord(
            topic=place[0],
            partition=place[1],
            offset=record.offset,
            batch_offset=batch.base_offset,
            producer_id=batch.producer_id,
            epoch=batch.producer_epoch,
            sequence=-1 if batch.base_sequence < 0 else batch.base_sequence + nth,
            transactional=batch.transactional,
            value=text(record.value),
            timestamp_ms=record.timestamp_ms,
        )


def _marker(place: TopicPartition, batch: LogBatch) -> Iterator[LogRecord]:
    if batch.marker is None:
        return
    control, coordinator_epoch = batch.marker
    yield LogRecord(
        topic=place[0],
        partition=place[1],
        offset=batch.base_offset,
        batch_offset=batch.base_offset,
        producer_id=batch.producer_id,
        epoch=batch.producer_epoch,
        sequence=-1,
        transactional=batch.transactional,
        control=control,
        coordinator_epoch=coordinator_epoch,
        timestamp_ms=batch.base_timestamp_ms,
    )
