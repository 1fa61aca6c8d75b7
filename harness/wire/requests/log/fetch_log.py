"""Fetch of a stretch of one partition's log as the broker keeps it: whole batches, each record with its offset."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.records.record_batch import LogBatch
from harness.wire.requests.log.fetch import READ_UNCOMMITTED, Fetch, read_fetched


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLogResult:
    """What came. Offsets are -1 where unknown.

    :param aborted: ``(producer id, first offset)`` of aborted transactions in the stretch; only for read_committed.
    :param batches: In log order; the first may begin below the offset asked for.
    :param next_offset: Where the next fetch goes on; the offset asked for when nothing came.
    """

    error: int
    error_message: str | None
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: tuple[tuple[int, int], ...]
    batches: tuple[LogBatch, ...]
    next_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLog:
    """Read one partition from ``offset``, outside any fetch session; ask its leader, at v12 at most (by name)."""

    api: ClassVar[str] = "Fetch"
    topic: str
    partition: int
    offset: int
    isolation: int = READ_UNCOMMITTED
    max_bytes: int = 8 << 20

    def build(self, version: int) -> RequestPayload:
        """As :class:`~harness.wire.requests.log.fetch.Fetch` says it."""
        asked = Fetch(
            topic=self.topic,
            partition=self.partition,
            offset=self.offset,
            isolation=self.isolation,
            max_bytes=self.max_bytes,
        )
        return asked.build(version)

    def read(self, response: ResponsePayload) -> FetchLogResult:
        """A top-level error (v7+) comes without partitions; :raises UnreadableAnswer: when the records are no log."""
        top = ResponseFields(response)
        if top.error() and not top.parts("responses"):
            return self._answered(top.error(), ResponseFields(None), ())
        partition = top.first("responses").first("partitions")
        return self._answered(first_error(top.error(), partition.error()), partition, read_fetched(partition))

    def _answered(self, error: int, partition: ResponseFields, log: tuple[LogBatch, ...]) -> FetchLogResult:
        return FetchLogResult(
            error=error,
            error_message=None,
            high_watermark=partition.number("high_watermark"),
            last_stable_offset=partition.number("last_stable_offset"),
            log_start_offset=partition.number("log_start_offset"),
            aborted=tuple(
                (each.number("producer_id"), each.number("first_offset"))
                for each in partition.parts("aborted_transactions")
            ),
            batches=log,
            next_offset=log[-1].last_offset + 1 if log else self.offset,
        )
