"""The consuming half of a librdkafka client: confluent-kafka's Consumer, a read_committed member of a group."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from harness.clients.client import CallResult, ClientOptions, refused_locally
from harness.clients.librdkafka import librdkafka_settings
from harness.clients.librdkafka.librdkafka_outcomes import kafka_code, row_of
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.evidence.history.operation import Outcome, Verb
from harness.wire.records.record_batch import text

MOST_RECORDS = 500
"""Of one poll, after its first record."""


@dataclass(slots=True)
class LibrdkafkaConsumer:
    """One member of a group.

    :param _early: Messages that came while the assignment was waited for; the next poll delivers them.
    """

    options: ClientOptions
    consumer: Consumer | None = None
    _assigned: bool = False
    _early: list[Message] = field(default_factory=list)

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        """Join, and wait until the group has assigned what is ours, which may be nothing."""
        try:
            if self.consumer is None:
                self.consumer = Consumer(librdkafka_settings.of_consumer(self.options))
            self.consumer.subscribe(list(topics), on_assign=self._on_assign)
            return self._await(self.consumer)
        except KafkaException as error:
            return _failed("subscribe", error.args[0])

    def poll(self, within_ms: int) -> CallResult:
        """What is there after the first record came, or nothing."""
        if self.consumer is None:
            return refused_locally("subscribe comes first")
        messages, self._early = self._early, []
        try:
            first = None if messages else self.consumer.poll(within_ms / 1000)
            if first is not None:
                messages = [first, *self.consumer.consume(MOST_RECORDS, 0)]
        except KafkaException as error:
            return _failed("poll", error.args[0])
        return _polled(messages)

    def close(self) -> None:
        consumer, self.consumer = self.consumer, None
        if consumer is not None:
            consumer.close()

    def _await(self, consumer: Consumer) -> CallResult:
        deadline = time.monotonic() + self.options.request_ms / 1000
        while not self._assigned:
            if time.monotonic() >= deadline:
                return CallResult(outcome=Outcome.REFUSED, error=None, reason="nothing was assigned in time")
            message = consumer.poll(0.05)
            if message is not None and message.error() is None:
                self._early.append(message)
        return CallResult(outcome=Outcome.DONE)

    def _on_assign(self, _consumer: Consumer, _partitions: Sequence[TopicPartition]) -> None:
        self._assigned = True


def delivered(message: Message) -> DeliveredRecord:
    """A message without error as a record."""
    return DeliveredRecord(message.topic(), message.partition(), message.offset(), text(message.value()))


def _polled(messages: Sequence[Message]) -> CallResult:
    records = [delivered(message) for message in messages if message.error() is None]
    errors: list[KafkaError] = [error for message in messages if (error := message.error()) is not None]
    return _failed("poll", errors[0]) if errors and not records else CallResult(outcome=Outcome.DONE, records=records)


def _failed(verb: Verb, error: KafkaError) -> CallResult:
    row = row_of(verb, error.code(), retriable=False)
    return CallResult(outcome=Outcome.REFUSED, error=kafka_code(error.code()), reason=f"{row.reason} ({error.str()})")
