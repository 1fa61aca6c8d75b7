"""librdkafka as a plain reader: every committed record of some partitions, from the beginning to a wanted offset.

It assigns the partitions itself, commits nothing and joins no group. That it came to the end of what it may see, it
learns from the end-of-partition event, whose offset is the last stable offset under read_committed: so a partition that
ends in a marker or in aborted records is read to its end though no message says so.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, TopicPartition

from harness.evidence.delivered_record import DeliveredRecord
from harness.wire.records.record_batch import text

AT_ONCE = 2_000
"""Messages taken in one call."""
POLL = 0.1
"""Seconds that one call may wait."""


def read_committed(
    bootstrap: str,
    wanted: Mapping[tuple[str, int], int],
    *,
    within: float,
    deliver: Callable[[Sequence[DeliveredRecord]], None],
) -> Mapping[tuple[str, int], int]:
    """Read each topic and partition from its beginning until it is at its wanted offset.

    :param within: Seconds without any new offset after which it gives up; it never raises for a broker that is away.
    :param deliver: Gets the records in the order in which librdkafka delivers them.
    :return: For each partition, the offset that would be read next; 0 where nothing was told.
    """
    ends = dict.fromkeys(wanted, 0)
    consumer = Consumer(_settings(bootstrap))
    try:
        consumer.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for topic, index in wanted])
        moved = time.monotonic()
        while any(ends[place] < end for place, end in wanted.items()) and time.monotonic() - moved < within:
            if _take(consumer.consume(AT_ONCE, POLL), ends, deliver):
                moved = time.monotonic()
    finally:
        consumer.close()
    return ends


def _take(
    messages: Sequence[Message], ends: dict[tuple[str, int], int], deliver: Callable[[Sequence[DeliveredRecord]], None]
) -> bool:
    """Deliver the messages; whether any end moved."""
    before = sum(ends.values())
    records: list[DeliveredRecord] = []
    for message in messages:
        place = (message.topic(), message.partition())
        error = message.error()
        if error is None:
            records.append(DeliveredRecord(*place, message.offset(), text(message.value())))
            ends[place] = max(ends[place], message.offset() + 1)
        elif error.code() == KafkaError._PARTITION_EOF:
            ends[place] = max(ends[place], message.offset())
    if records:
        deliver(records)
    return sum(ends.values()) > before


def _settings(bootstrap: str) -> dict[str, str | int | bool]:
    return {
        "bootstrap.servers": bootstrap,
        "client.id": "fencepost-drain",
        "group.id": "fencepost-drain",  # must be there; no group is joined by assigning
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 50,
        "fetch.error.backoff.ms": 100,
        "reconnect.backoff.max.ms": 500,
        "log_level": 0,  # what goes wrong shows in how far it came
    }
