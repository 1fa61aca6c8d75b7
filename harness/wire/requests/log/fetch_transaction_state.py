"""Fetch of ``__transaction_state``: what a coordinator has written down, record by record."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.records.record_batch import Record
from harness.wire.records.transaction_state import TOPIC, TransactionState, decode_state
from harness.wire.requests.log.fetch import Fetch, read_fetched
from harness.wire.wire_errors import UnreadableAnswer, UnreadableRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchTransactionStateResult:
    """``states`` in log order; ``next_offset`` is where the next fetch goes on."""

    error: int
    error_message: str | None
    high_watermark: int
    states: tuple[TransactionState, ...]
    next_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchTransactionState:
    """Read ``partition`` of the topic from ``offset``; ask the partition's leader, which is the coordinator."""

    api: ClassVar[str] = "Fetch"
    partition: int
    offset: int = 0

    def build(self, version: int) -> RequestPayload:
        """By topic name, so v12 at most."""
        return Fetch(topic=TOPIC, partition=self.partition, offset=self.offset).build(version)

    def read(self, response: ResponsePayload) -> FetchTransactionStateResult:
        """Every record of the answer; :raises UnreadableAnswer: when one is no transaction state."""
        top = ResponseFields(response)
        partition = top.first("responses").first("partitions")
        log = read_fetched(partition)
        return FetchTransactionStateResult(
            error=first_error(top.error(), partition.error()),
            error_message=None,
            high_watermark=partition.number("high_watermark"),
            states=tuple(_decoded(record) for batch in log if not batch.is_control for record in batch.records),
            next_offset=log[-1].last_offset + 1 if log else self.offset,
        )


def _decoded(record: Record) -> TransactionState:
    try:
        return decode_state(record)
    except UnreadableRecords as error:
        raise UnreadableAnswer(str(error)) from error
