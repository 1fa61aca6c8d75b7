"""The wire reader: a read_committed consumer on raw Fetch, each answer filtered by its own aborted transactions.

It reads as the Java client does, a megabyte at a time and without remembering anything from one answer to the next, so
that a broker whose list of aborted transactions lacks one is seen through it as an application would see it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.base import wait
from harness.base.kafka_error import KafkaError
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.kafka.leader_client import RETRY_SECONDS, LeaderClient, Unreachable
from harness.kafka.raw_log import log_start
from harness.wire.records.isolation import committed_records
from harness.wire.records.record_batch import LogBatch, text
from harness.wire.requests.log.fetch import READ_COMMITTED, Fetch
from harness.wire.topic_partitions import TopicPartition

MAX_BYTES = 1 << 20
"""Of one answer, ``max.partition.fetch.bytes`` of the Java client."""

Deliver = Callable[[Sequence[DeliveredRecord]], None]
"""Takes records, partition by partition in log order."""


@dataclass(slots=True)
class FetchAccount:
    """What a reader's answers were like.

    :param answers: Those that brought anything.
    :param within: Those that end within a transaction, so that the next one must tell again that it was aborted.
    """

    answers: int = 0
    within: int = 0

    def note(self, batches: Sequence[LogBatch]) -> None:
        """One answer's."""
        left: set[int] = set()
        for batch in batches:
            if batch.is_control:
                left.discard(batch.producer_id)
            elif batch.transactional:
                left.add(batch.producer_id)
        self.answers += bool(batches)
        self.within += bool(left)


def read_committed(
    leader_client: LeaderClient,
    wanted: Mapping[TopicPartition, int],
    *,
    timeout_seconds: float,
    deliver: Deliver,
    max_bytes: int = MAX_BYTES,
    account: FetchAccount | None = None,
) -> Mapping[TopicPartition, int]:
    """Read each partition from its beginning until it is at its wanted offset.

    :param timeout_seconds: Seconds without any new offset after which it gives up, as it does where no broker answers.
    :param max_bytes: Of one answer; a longer batch comes whole (KIP-74).
    :param account: Counts the answers.
    :return: For each partition, the offset that would be read next.
    """
    reader = _Reader(leader_client, deliver, max_bytes, FetchAccount() if account is None else account)
    ends = dict.fromkeys(wanted, 0)
    progressed = time.monotonic()
    while behind := [each for each, end in wanted.items() if ends[each] < end]:
        before = sum(ends.values())
        for topic_partition in behind:
            ends[topic_partition] = reader.fetch(topic_partition, ends[topic_partition])
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


@dataclass(slots=True)
class _Reader:
    leader_client: LeaderClient
    deliver: Deliver
    max_bytes: int
    account: FetchAccount

    def fetch(self, topic_partition: TopicPartition, offset: int) -> int:
        """Deliver one answer's records; the next offset."""
        topic, index = topic_partition
        request = Fetch(topic=topic, partition=index, offset=offset, isolation=READ_COMMITTED, max_bytes=self.max_bytes)
        try:
            result = self.leader_client.at_leader(topic_partition, request, timeout_seconds=0)
        except Unreachable:
            return offset
        if result.error == KafkaError.OFFSET_OUT_OF_RANGE:
            return _behind_deleted(self.leader_client, topic_partition, offset)
        self.account.note(result.batches)
        shown = [
            DeliveredRecord(topic, index, record.offset, text(record.value))
            for record in committed_records(result.batches, result.aborted)
            if record.offset >= offset
        ]
        if shown:
            self.deliver(shown)
        return max(offset, result.next_offset)
