"""DescribeTransactions: what the coordinator keeps of a transactional id (KIP-664)."""

from dataclasses import dataclass
from typing import ClassVar, TypedDict

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.topic_partitions import partition_name


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeTransactionsResult:
    """``state`` by Kafka's name (``Ongoing``); ``start_time_ms`` since 1970, -1 when nothing is open."""

    error: int
    error_message: str | None
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int
    partitions: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeTransactions:
    """Ask the coordinator of one transactional id."""

    api: ClassVar[str] = "DescribeTransactions"
    transactional_id: str

    def build(self, version: int) -> RequestPayload:
        return request(self.api, version, transactional_ids=(self.transactional_id,))

    def read(self, response: ResponsePayload) -> DescribeTransactionsResult:
        """The one id's answer; ``partitions`` by name (``t-0``)."""
        part = _described(ResponseFields(response).first("transaction_states"))
        return DescribeTransactionsResult(error_message=None, **part)


class DescribedTransaction(TypedDict):
    """What one id of several was answered with; its fields are those of :class:`DescribeTransactionsResult`."""

    error: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int
    partitions: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeTransactionsOfResult:
    """``transactions`` by transactional id, in the broker's order; ``answers`` counts them, also those of one id."""

    error: int
    error_message: str | None
    answers: int
    transactions: dict[str, DescribedTransaction]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeTransactionsOf:
    """Ask any broker about several transactional ids, or about none; it answers each for itself."""

    api: ClassVar[str] = DescribeTransactions.api
    transactional_ids: tuple[str, ...]

    def build(self, version: int) -> RequestPayload:
        return request(self.api, version, transactional_ids=self.transactional_ids)

    def read(self, response: ResponsePayload) -> DescribeTransactionsOfResult:
        parts = ResponseFields(response).parts("transaction_states")
        return DescribeTransactionsOfResult(
            error=first_error(*(part.error() for part in parts)),
            error_message=None,
            answers=len(parts),
            transactions={part.text("transactional_id"): _described(part) for part in parts},
        )


def _described(part: ResponseFields) -> DescribedTransaction:
    return DescribedTransaction(
        error=part.error(),
        state=part.text("transaction_state"),
        producer_id=part.number("producer_id"),
        producer_epoch=part.number("producer_epoch"),
        timeout_ms=part.number("transaction_timeout"),
        start_time_ms=part.number("transaction_start_time"),
        partitions=_partitions(part),
    )


def _partitions(described: ResponseFields) -> list[str]:
    return [
        partition_name(topic.text("topic"), index)
        for topic in described.parts("topics")
        for index in topic.numbers("partitions")
    ]
