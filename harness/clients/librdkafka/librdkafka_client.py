"""A client of librdkafka: the nine verbs of the port, on the writing and the reading half."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.clients.client import CallResult, ClientOptions, Polled
from harness.clients.librdkafka.librdkafka_consumer import LibrdkafkaConsumer
from harness.clients.librdkafka.librdkafka_producer import LibrdkafkaProducer
from harness.evidence.operation import Outcome, Value

CLOSE_WITHIN = 3.0
"""Seconds that closing may take; librdkafka waits for its own threads, and is left to it beyond that."""


@dataclass(slots=True)
class LibrdkafkaClient:
    """See the port. Owned by one thread."""

    options: ClientOptions
    _writing: LibrdkafkaProducer = field(init=False)
    _reading: LibrdkafkaConsumer = field(init=False)
    kind: str = "librdkafka"

    def __post_init__(self) -> None:
        """Nothing is opened yet."""
        self._writing = LibrdkafkaProducer(self.options)
        self._reading = LibrdkafkaConsumer(self.options)

    def init(self) -> CallResult:
        """See the port."""
        return self._writing.init()

    def begin(self) -> CallResult:
        """See the port."""
        return self._writing.begin()

    def produce(self, topic: str, partition: int, value: Value) -> CallResult:
        """See the port."""
        return self._writing.produce(topic, partition, value)

    def send_offsets(self, topic: str, partition: int, offset: int) -> CallResult:
        """See the port; refused before ``subscribe``, since librdkafka takes the group's metadata from a consumer."""
        return self._writing.send_offsets(topic, partition, offset, self._reading.consumer)

    def commit(self) -> CallResult:
        """See the port."""
        return self._writing.end(commit=True)

    def abort(self) -> CallResult:
        """See the port."""
        return self._writing.end(commit=False)

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        """See the port."""
        return self._reading.subscribe(topics)

    def poll(self, within_ms: int) -> Polled:
        """See the port."""
        return self._reading.poll(within_ms)

    def close(self) -> CallResult:
        """See the port; an open transaction is left as it is."""
        closing = threading.Thread(target=self._close, name=f"close {self.options.actor}", daemon=True)
        closing.start()
        closing.join(CLOSE_WITHIN)
        reason = "librdkafka still closes" if closing.is_alive() else ""
        return CallResult(outcome=Outcome.DONE, reason=reason, tries=0)

    def _close(self) -> None:
        self._reading.drop()
        self._writing.drop()
