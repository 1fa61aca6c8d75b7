"""DescribeTransactions: what the coordinator keeps of a transactional id (KIP-664)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields
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
        described = ResponseFields(response).first("transaction_states")
        return DescribeTransactionsResult(
            error=described.error(),
            error_message=None,
            state=described.text("transaction_state"),
            producer_id=described.number("producer_id"),
            producer_epoch=described.number("producer_epoch"),
            timeout_ms=described.number("transaction_timeout"),
            start_time_ms=described.number("transaction_start_time"),
            partitions=[
                partition_name(topic.text("topic"), index)
                for topic in described.parts("topics")
                for index in topic.numbers("partitions")
            ],
        )
