"""The consuming half: confluent-kafka's Consumer, a read_committed member of a group."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from harness.clients.client import CallResult, ClientOptions, Polled
from harness.clients.librdkafka import librdkafka_settings
from harness.clients.librdkafka.librdkafka_outcomes import row_of, told_code
from harness.evidence.delivered_record import DeliveredRecord
from harness.evidence.operation import Outcome, Verb
from harness.wire.records.record_batch import text

MOST = 500
"""Records of one poll."""


@dataclass(slots=True)
class LibrdkafkaConsumer:
    """One member of a group."""

    options: ClientOptions
    consumer: Consumer | None = None
    _assigned: bool = False
    _ahead: list[Message] = field(default_factory=list)

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        """Join, and wait until the group has assigned what is ours, which may be nothing."""
        try:
            if self.consumer is None:
                self.consumer = Consumer({**librdkafka_settings.of_consumer(self.options), "error_cb": _ignored})
            self.consumer.subscribe(list(topics), on_assign=self._given)
            return self._await(self.consumer)
        except KafkaException as error:
            return _failed("subscribe", error.args[0])

    def poll(self, within_ms: int) -> Polled:
        """What is there after the first record came, or nothing."""
        if self.consumer is None:
            return Polled(
                answer=CallResult(outcome=Outcome.REFUSED, error=None, reason="subscribe comes first", tries=0)
            )
        messages, self._ahead = self._ahead, []
        try:
            first = None if messages else self.consumer.poll(within_ms / 1000)
            if first is not None:
                messages = [first, *self.consumer.consume(MOST, 0)]
        except KafkaException as error:
            return Polled(answer=_failed("poll", error.args[0]))
        return _polled(messages)

    def drop(self) -> None:
        """Leave the group and close."""
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
                self._ahead.append(message)
        return CallResult(outcome=Outcome.DONE)

    def _given(self, _consumer: Consumer, _partitions: Sequence[TopicPartition]) -> None:
        self._assigned = True


def _polled(messages: Sequence[Message]) -> Polled:
    records = [_record(message) for message in messages if message.error() is None]
    errors: list[KafkaError] = [error for message in messages if (error := message.error()) is not None]
    answer = _failed("poll", errors[0]) if errors and not records else CallResult(outcome=Outcome.DONE)
    return Polled(answer=answer, records=records)


def _record(message: Message) -> DeliveredRecord:
    return DeliveredRecord(message.topic(), message.partition(), message.offset(), text(message.value()))


def _failed(verb: Verb, error: KafkaError) -> CallResult:
    row = row_of(verb, error.code(), retriable=False)
    return CallResult(outcome=Outcome.REFUSED, error=told_code(error.code()), reason=f"{row.reason} ({error.str()})")


def _ignored(_error: object) -> None:
    """Connections come and go; what matters is told by the calls."""
