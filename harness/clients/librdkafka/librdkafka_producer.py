"""The transactional half: confluent-kafka's Producer, one record at a time, every error through the table."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from harness.clients.client import CallResult, ClientOptions
from harness.clients.librdkafka import librdkafka_settings
from harness.clients.librdkafka.librdkafka_outcomes import API_OF, FENCED, NOT_TAKEN, row_of, told_code
from harness.clients.librdkafka.statistics import Statistics
from harness.clients.outcome_table import outcome_after
from harness.evidence.operation import Outcome, Value, Verb

SUCCEEDED_AFTER_ALL = "succeeded on the broker"
"""librdkafka's words for an EndTxn that was done although the transaction had failed locally."""
TELLING_WITHIN = 1.0
"""Seconds that statistics are waited for; they come every :data:`settings.STATISTICS_MS`."""


@dataclass(slots=True)
class LibrdkafkaProducer:
    """One transactional producer of librdkafka."""

    options: ClientOptions
    _producer: Producer | None = None
    _statistics: Statistics = field(default_factory=Statistics)
    _fatal: list[int] = field(default_factory=list)
    _needs_end: bool = False
    _clean: bool = True

    def init(self) -> CallResult:
        """init_transactions; the identity is read from the statistics that follow."""
        try:
            producer = self._opened()
        except KafkaException as error:
            return self._failed("init", error.args[0])
        answer = self._called("init", lambda: producer.init_transactions(self._seconds))
        if answer.done:
            self._statistics.needed("InitProducerId")
            self._statistics.refresh(self._poll, TELLING_WITHIN)
        return self._told(answer)

    def begin(self) -> CallResult:
        """begin_transaction; local."""
        self._needs_end, self._clean = False, True
        return self._called("begin", lambda: self._opened().begin_transaction())

    def produce(self, topic: str, partition: int, value: Value) -> CallResult:
        """One record, until its delivery report; a report that comes after the bound is not waited for."""
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
            return self._told(CallResult(outcome=Outcome.UNSURE, error=None, reason="no delivery report came in time"))
        return self._reported(*reports[0])

    def send_offsets(self, topic: str, partition: int, offset: int, consumer: Consumer | None) -> CallResult:
        """send_offsets_to_transaction, as the group member that ``consumer`` is."""
        if consumer is None:
            return self._told(CallResult(outcome=Outcome.REFUSED, error=None, reason="subscribe comes first", tries=0))
        place = TopicPartition(topic, partition, offset)
        answer = self._called(
            "send_offsets",
            lambda: self._opened().send_offsets_to_transaction(
                [place], consumer.consumer_group_metadata(), self._seconds
            ),
        )
        self._counted("TxnOffsetCommit", answer)
        return replace(answer, offset=offset)

    def end(self, *, commit: bool) -> CallResult:
        """commit_transaction or abort_transaction."""
        verb: Verb = "commit" if commit else "abort"
        producer = self._opened()
        answer = self._called(
            verb, lambda: (producer.commit_transaction if commit else producer.abort_transaction)(self._seconds)
        )
        if answer.done and self._needs_end and self._clean:
            self._statistics.needed("EndTxn")
        return answer

    def drop(self) -> None:
        """Let go of the producer as a process that ends does: nothing is aborted, nothing flushed."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()
        del producer  # librdkafka is destroyed with its last reference

    @property
    def _seconds(self) -> float:
        return self.options.request_ms / 1000

    def _opened(self) -> Producer:
        if self._producer is None:
            self._producer = Producer(
                {
                    **librdkafka_settings.of_producer(self.options),
                    "stats_cb": self._statistics.take,
                    "error_cb": _ignored,
                }
            )
        return self._producer

    def _poll(self, seconds: float) -> None:
        """Serve callbacks; a fatal error, which confluent-kafka raises here, is kept for who asks next."""
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
            answer = self._told(CallResult(outcome=Outcome.DONE, offset=offset if offset >= 0 else None))
        else:
            answer = self._failed("produce", error)
        self._counted("Produce", answer)
        return answer

    def _counted(self, api: str, answer: CallResult) -> None:
        self._clean = self._clean and answer.done
        if answer.done:
            self._needs_end = True
            self._statistics.needed(api)

    def _called(self, verb: Verb, call: Callable[[], object]) -> CallResult:
        try:
            call()
        except KafkaException as error:
            return self._failed(verb, error.args[0])
        return self._told(CallResult(outcome=Outcome.DONE))

    def _not_taken(self, error: KafkaException | BufferError) -> CallResult:
        own = error.args[0] if isinstance(error, KafkaException) else None
        code = told_code(own.code()) if own is not None else None
        return self._told(CallResult(outcome=Outcome.REFUSED, error=code, reason=f"{NOT_TAKEN}: {error}", tries=0))

    def _failed(self, verb: Verb, error: KafkaError) -> CallResult:
        """By the table; a refusal stands only where the statistics show that nothing was sent, or one request alone."""
        row = row_of(verb, error.code(), retriable=error.retriable())
        tries = self._sent(verb) if row.outcome is Outcome.REFUSED else None
        outcome = outcome_after(row, doubt=tries is None or tries > 1 or SUCCEEDED_AFTER_ALL in error.str())
        code = self._fatal_code(error.code())
        return self._told(
            CallResult(
                outcome=outcome, error=code, reason=f"{row.reason} ({error.str()})", tries=1 if tries is None else tries
            )
        )

    def _sent(self, verb: Verb) -> int | None:
        api = API_OF.get(verb)
        if api is None or self._producer is None:
            return 0
        if not self._statistics.refresh(self._poll, TELLING_WITHIN):
            return None
        return self._statistics.sent_for_this(api)

    def _fatal_code(self, code: int) -> int | None:
        """A record given up because its producer was fenced was refused by fencing."""
        return told_code(FENCED if FENCED in self._fatal else code)

    def _told(self, answer: CallResult) -> CallResult:
        producer_id, epoch = self._statistics.identity or (None, None)
        return replace(answer, producer_id=producer_id, epoch=epoch)


def _ignored(_error: KafkaError) -> None:
    """Connections come and go; what matters is told by the calls."""
