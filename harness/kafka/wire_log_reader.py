"""The wire reader: a read_committed consumer on raw Fetch, each answer filtered by its own list of aborted ones.

It reads as the Java client does, a megabyte at a time and without remembering anything from one answer to the next, so
that a broker whose list of aborted transactions lacks one is seen through it as an application would see it.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from harness.base import wait
from harness.evidence.delivered_record import DeliveredRecord
from harness.kafka.leader_client import EVERY, LeaderClient, TopicPartition, Unreachable
from harness.wire.records.isolation import committed
from harness.wire.records.record_batch import text
from harness.wire.requests.log.fetch import READ_COMMITTED
from harness.wire.requests.log.fetch_log import FetchLog, FetchLogResult
from harness.wire.requests.log.fetch_watermarks import BY_NAME

AT_ONCE = 1 << 20
"""Bytes of one answer, ``max.partition.fetch.bytes`` of the Java client."""


def read_committed(
    leader_client: LeaderClient,
    wanted: Mapping[TopicPartition, int],
    *,
    within: float,
    deliver: Callable[[Sequence[DeliveredRecord]], None],
) -> Mapping[TopicPartition, int]:
    """Read each partition from its beginning until it is at its wanted offset.

    :param within: Seconds without any new offset after which it gives up, as it does where nobody answers.
    :param deliver: Gets the records, partition by partition in log order.
    :return: For each partition, the offset that would be read next.
    """
    ends = dict.fromkeys(wanted, 0)
    moved = time.monotonic()
    while left := [place for place, end in wanted.items() if ends[place] < end]:
        before = sum(ends.values())
        for place in left:
            ends[place] = _onward(leader_client, place, ends[place], deliver)
        if sum(ends.values()) > before:
            moved = time.monotonic()
        elif time.monotonic() - moved >= within:
            break
        else:
            wait.pause(EVERY)
    return ends


def _onward(
    leader_client: LeaderClient,
    place: TopicPartition,
    position: int,
    deliver: Callable[[Sequence[DeliveredRecord]], None],
) -> int:
    """One answer's records; the next position."""
    topic, index = place
    asked = FetchLog(topic=topic, partition=index, offset=position, isolation=READ_COMMITTED, max_bytes=AT_ONCE)
    try:
        result = leader_client.at_leader(place, asked, cap=BY_NAME, within=0)
    except Unreachable:
        return position
    if records := _shown(place, position, result):
        deliver(records)
    return max(position, result.next_offset)


def _shown(place: TopicPartition, position: int, result: FetchLogResult) -> list[DeliveredRecord]:
    return [
        DeliveredRecord(*place, record.offset, text(record.value))
        for batch in committed(result.batches, result.aborted)
        if not batch.is_control
        for record in batch.records
        if record.offset >= position
    ]
