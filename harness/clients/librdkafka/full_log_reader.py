"""librdkafka as a plain reader: every committed record of some partitions, from the beginning to a wanted offset.

It assigns the partitions itself, commits nothing and joins no group. The end of what it may read comes as the
end-of-partition event, whose offset is the last stable offset under read_committed: so a partition that ends in a
marker or in aborted records is read to its end although no message comes.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, TopicPartition

from harness.clients.librdkafka.librdkafka_security import security_settings
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.wire.records.record_batch import text
from harness.wire.security.security import PLAINTEXT, Security

MESSAGES_PER_CALL = 2_000
FETCH_BYTES = 1 << 20
"""``fetch.message.max.bytes``, librdkafka's own default."""
CALL_SECONDS = 0.1
"""How long one call may wait."""


def read_committed(
    bootstrap: str,
    wanted: Mapping[tuple[str, int], int],
    *,
    timeout_seconds: float,
    deliver: Callable[[Sequence[DeliveredRecord]], None],
    security: Security = PLAINTEXT,
    group: str = "fencepost-drain",
    fetch_bytes: int = FETCH_BYTES,
) -> Mapping[tuple[str, int], int]:
    """Read each topic and partition from its beginning until it is at its wanted offset.

    :param timeout_seconds: Seconds without any new offset after which it gives up; it never raises for a broker that
        is away.
    :param group: The name that it goes by; no group comes into being.
    :param fetch_bytes: Of one partition in an answer; a longer batch comes whole (KIP-74).
    :param deliver: Gets the records in the order in which librdkafka delivers them.
    :return: For each partition, the offset that would be read next; 0 where nothing came.
    """
    ends = dict.fromkeys(wanted, 0)
    consumer = Consumer({**_settings(bootstrap, group, fetch_bytes), **security_settings(security)})
    try:
        consumer.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for topic, index in wanted])
        moved = time.monotonic()
        while (
            any(ends[partition] < end for partition, end in wanted.items())
            and time.monotonic() - moved < timeout_seconds
        ):
            if _take(consumer.consume(MESSAGES_PER_CALL, CALL_SECONDS), ends, deliver):
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
        partition = (message.topic(), message.partition())
        error = message.error()
        if error is None:
            records.append(DeliveredRecord(*partition, message.offset(), text(message.value())))
            ends[partition] = max(ends[partition], message.offset() + 1)
        elif error.code() == KafkaError._PARTITION_EOF:
            ends[partition] = max(ends[partition], message.offset())
    if records:
        deliver(records)
    return sum(ends.values()) > before


def _settings(bootstrap: str, group: str, fetch_bytes: int) -> dict[str, str | int | bool]:
    return {
        "bootstrap.servers": bootstrap,
        "client.id": "fencepost-drain",
        "group.id": group,  # must be there; no group is joined by assigning
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "fetch.message.max.bytes": fetch_bytes,
        "fetch.wait.max.ms": 50,
        "fetch.error.backoff.ms": 100,
        "reconnect.backoff.max.ms": 500,
        "log_level": 0,  # what goes wrong shows in how far it came
    }
