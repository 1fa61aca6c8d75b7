"""A client of librdkafka: confluent-kafka's Producer, one record at a time, and its Consumer for the consuming verbs.

Every error goes through the table in :mod:`harness.clients.librdkafka.librdkafka_outcomes`.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from harness.clients.client import CallResult, ClientOptions, refused_locally
from harness.clients.librdkafka import librdkafka_settings
from harness.clients.librdkafka.librdkafka_consumer import LibrdkafkaConsumer
from harness.clients.librdkafka.librdkafka_outcomes import API_OF, NOT_TAKEN, kafka_code, row_of
from harness.clients.librdkafka.statistics import Statistics
from harness.clients.outcome_table import outcome_after
from harness.evidence.history.operation import Outcome, Value, Verb

SUCCEEDED_AFTER_ALL = "succeeded on the broker"
"""librdkafka's message for an EndTxn that was done although the transaction had failed locally."""
STATISTICS_SECONDS = 1.0
"""How long statistics are waited for; they come every :data:`librdkafka_settings.STATISTICS_MS`."""
CLOSE_SECONDS = 3.0
"""How long closing may take; librdkafka waits for its own threads, and is left to it beyond that."""


@dataclass(slots=True)
class LibrdkafkaClient:
    """See the port. Owned by one thread; nothing is opened before the first verb that needs it.

    :param _fatal: Codes of the fatal errors that callbacks raised.
    :param _needs_end: Whether something was written, so that the end of the transaction sends an EndTxn.
    :param _clean: Whether everything in the transaction was done.
    """

    options: ClientOptions
    kind: str
    protocol: Literal["v1", "v2"]
    _producer: Producer | None = None
    _consumer: LibrdkafkaConsumer = field(init=False)
    _statistics: Statistics = field(default_factory=Statistics)
    _fatal: list[int] = field(default_factory=list)
    _needs_end: bool = False
    _clean: bool = True

    def __post_init__(self) -> None:
        self._consumer = LibrdkafkaConsumer(self.options)

    def init(self) -> CallResult:
        """See the port; the identity is read from the statistics that follow."""
        try:
            producer = self._opened()
        except KafkaException as error:
            return self._failed("init", error.args[0])
        result = self._called("init", lambda: producer.init_transactions(self._seconds))
        if result.done:
            self._statistics.needed("InitProducerId")
            self._statistics.refresh(self._poll, STATISTICS_SECONDS)
        return self._identified(result)

    def begin(self) -> CallResult:
        self._needs_end, self._clean = False, True
        return self._called("begin", lambda: self._opened().begin_transaction())

    def produce(self, topic: str, partition: int, value: Value) -> CallResult:
        """See the port; a delivery report that comes after ``request_ms`` is not waited for."""
        reports: list[tuple[KafkaError | None, int]] = []
        producer = self._opened()
        try:
            producer.produce(
                topic,
                value=str(value).encode(),
                partition=partition,
                on_delivery=lambda error, message: reports.append((error, message.offset())),
            )
        except (KafkaException, BufferError) as error:
            return self._not_taken(error)
        self._await(reports)
        if not reports:
            late = CallResult(outcome=Outcome.UNSURE, error=None, reason="no delivery report came in time")
            return self._identified(late)
        return self._reported(*reports[0])

    def send_offsets(self, topic: str, partition: int, offset: int) -> CallResult:
        """See the port; refused before ``subscribe``, since librdkafka takes the group's metadata from a consumer."""
        consumer = self._consumer.consumer
        if consumer is None:
            return self._identified(refused_locally("subscribe comes first"))
        offsets = [TopicPartition(topic, partition, offset)]
        result = self._called(
            "send_offsets",
            lambda: self._opened().send_offsets_to_transaction(
                offsets, consumer.consumer_group_metadata(), self._seconds
            ),
        )
        self._counted("TxnOffsetCommit", result)
        return replace(result, offset=offset)

    def commit(self) -> CallResult:
        return self._ended("commit", lambda: self._opened().commit_transaction(self._seconds))

    def abort(self) -> CallResult:
        return self._ended("abort", lambda: self._opened().abort_transaction(self._seconds))

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        return self._consumer.subscribe(topics)

    def poll(self, within_ms: int) -> CallResult:
        return self._consumer.poll(within_ms)

    def close(self) -> CallResult:
        """See the port; an open transaction is left as it is."""
        closing = threading.Thread(target=self._close, name=f"close {self.options.actor}", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)
        reason = "librdkafka still closes" if closing.is_alive() else ""
        return CallResult(outcome=Outcome.DONE, reason=reason, tries=0)

    def _close(self) -> None:
        """The producer goes as with a process that ends: nothing is aborted, nothing flushed."""
        self._consumer.close()
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
        del producer  # librdkafka is destroyed with its last reference

    @property
    def _seconds(self) -> float:
        return self.options.request_ms / 1000

    def _opened(self) -> Producer:
        if self._producer is None:
            settings = librdkafka_settings.of_producer(self.options)
            self._producer = Producer({**settings, "stats_cb": self._statistics.take})
        return self._producer

    def _poll(self, seconds: float) -> None:
        """Serve callbacks; a fatal error, which confluent-kafka raises here, is kept for the next call's result."""
        try:
            self._opened().poll(seconds)
        except KafkaException as error:
            self._fatal.append(error.args[0].code())

    def _await(self, reports: list[tuple[KafkaError | None, int]]) -> None:
        deadline = time.monotonic() + self._seconds
        while not reports and (left := deadline - time.monotonic()) > 0:
            self._poll(left)

    def _reported(self, error: KafkaError | None, offset: int) -> CallResult:
        if error is None:
            result = self._identified(CallResult(outcome=Outcome.DONE, offset=offset if offset >= 0 else None))
        else:
            result = self._failed("produce", error)
        self._counted("Produce", result)
        return result

    def _counted(self, api: str, result: CallResult) -> None:
        self._clean = self._clean and result.done
        if result.done:
            self._needs_end = True
            self._statistics.needed(api)

    def _ended(self, verb: Verb, call: Callable[[], object]) -> CallResult:
        result = self._called(verb, call)
        if result.done and self._needs_end and self._clean:
            self._statistics.needed("EndTxn")
        return result

    def _called(self, verb: Verb, call: Callable[[], object]) -> CallResult:
        try:
            call()
        except KafkaException as error:
            return self._failed(verb, error.args[0])
        return self._identified(CallResult(outcome=Outcome.DONE))

    def _not_taken(self, error: KafkaException | BufferError) -> CallResult:
        code = kafka_code(error.args[0].code()) if isinstance(error, KafkaException) else None
        return self._identified(replace(refused_locally(f"{NOT_TAKEN}: {error}"), error=code))

    def _failed(self, verb: Verb, error: KafkaError) -> CallResult:
        """By the table; it is refused only where the statistics show that nothing was sent, or one request alone."""
        row = row_of(verb, error.code(), retriable=error.retriable())
        tries = self._sent(verb) if row.outcome is Outcome.REFUSED else None
        outcome = outcome_after(row, doubt=tries is None or tries > 1 or SUCCEEDED_AFTER_ALL in error.str())
        return self._identified(
            CallResult(
                outcome=outcome,
                error=self._kafka_code(error),
                reason=f"{row.reason} ({error.str()})",
                tries=1 if tries is None else tries,
            )
        )

    def _sent(self, verb: Verb) -> int | None:
        api = API_OF.get(verb)
        if api is None or self._producer is None:
            return 0
        if not self._statistics.refresh(self._poll, STATISTICS_SECONDS):
            return None
        return self._statistics.sent_for_this(api)

    def _kafka_code(self, error: KafkaError) -> int | None:
        """A record given up because its producer was fenced was refused by fencing."""
        return kafka_code(KafkaError._FENCED if KafkaError._FENCED in self._fatal else error.code())

    def _identified(self, result: CallResult) -> CallResult:
        producer_id, epoch = self._statistics.identity or (None, None)
        return replace(result, producer_id=producer_id, epoch=epoch)
