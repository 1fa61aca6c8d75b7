"""The wire reader: a read_committed consumer on raw Fetch, each answer filtered by its own aborted transactions.

It reads as the Java client does, a megabyte at a time and without remembering anything from one answer to the next, so
that a broker whose list of aborted transactions lacks one is seen through it as an application would see it.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from harness.base import wait
from harness.base.kafka_error import KafkaError
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.kafka.leader_client import RETRY_SECONDS, LeaderClient, Unreachable
from harness.kafka.raw_log import log_start
from harness.wire.records.isolation import committed_records
from harness.wire.records.record_batch import text
from harness.wire.requests.log.fetch import READ_COMMITTED, Fetch
from harness.wire.topic_partitions import TopicPartition

MAX_BYTES = 1 << 20
"""Of one answer, ``max.partition.fetch.bytes`` of the Java client."""

Deliver = Callable[[Sequence[DeliveredRecord]], None]
"""Takes records, partition by partition in log order."""


def read_committed(
    leader_client: LeaderClient, wanted: Mapping[TopicPartition, int], *, timeout_seconds: float, deliver: Deliver
) -> Mapping[TopicPartition, int]:
    """Read each partition from its beginning until it is at its wanted offset.

    :param timeout_seconds: Seconds without any new offset after which it gives up, as it does where no broker answers.
    :return: For each partition, the offset that would be read next.
    """
    ends = dict.fromkeys(wanted, 0)
    progressed = time.monotonic()
    while behind := [each for each, end in wanted.items() if ends[each] < end]:
        before = sum(ends.values())
        for topic_partition in behind:
            ends[topic_partition] = _fetch(leader_client, topic_partition, ends[topic_partition], deliver)
        if sum(ends.values()) > before:
            progressed = time.monotonic()
        elif time.monotonic() - progressed >= timeout_seconds:
            break
        else:
            wait.pause(RETRY_SECONDS)
    return ends


def _behind_deleted(leader_client: LeaderClient, topic_partition: TopicPartition, offset: int) -> int:
    """Where the log begins by now, as ``auto.offset.reset=earliest`` goes on."""
    try:
        return max(offset, log_start(leader_client, topic_partition))
    except Unreachable:
        return offset


def _fetch(leader_client: LeaderClient, topic_partition: TopicPartition, offset: int, deliver: Deliver) -> int:
    """Deliver one answer's records; the next offset."""
    topic, index = topic_partition
    request = Fetch(topic=topic, partition=index, offset=offset, isolation=READ_COMMITTED, max_bytes=MAX_BYTES)
    try:
        result = leader_client.at_leader(topic_partition, request, timeout_seconds=0)
    except Unreachable:
        return offset
    if result.error == KafkaError.OFFSET_OUT_OF_RANGE:
        return _behind_deleted(leader_client, topic_partition, offset)
    shown = [
        DeliveredRecord(topic, index, record.offset, text(record.value))
        for record in committed_records(result.batches, result.aborted)
        if record.offset >= offset
    ]
    if shown:
        deliver(shown)
    return max(offset, result.next_offset)
