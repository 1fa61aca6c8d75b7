"""Fetch: a stretch of one partition's log, with its high watermark and last stable offset."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.evidence.requirement_evidence import Batch
from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.records.record_batch import LogBatch, read_log
from harness.wire.wire_errors import CannotSay, UnreadableAnswer, UnreadableRecords

READ_UNCOMMITTED = 0
READ_COMMITTED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
    """What came. Offsets are -1 where unknown.

    :param aborted: ``(producer id, first offset)`` of aborted transactions in the stretch; only for read_committed.
    :param next_offset: Where the next fetch goes on; the offset asked for when nothing came.
    """

    error: int
    error_message: str | None
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: list[tuple[int, int]]
    batches: tuple[Batch, ...]
    next_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """Read one partition from ``offset``, outside any fetch session.

    :param isolation: :data:`READ_UNCOMMITTED` reads to the high watermark, :data:`READ_COMMITTED` to the LSO.
    :param max_bytes: At least one batch comes, however large.
    """

    api: ClassVar[str] = "Fetch"
    topic: str
    partition: int
    offset: int
    isolation: int = READ_UNCOMMITTED
    max_bytes: int = 8 << 20
    max_wait_ms: int = 0
    min_bytes: int = 0
    topic_id: UUID | None = None

    def build(self, version: int) -> RequestPayload:
        """v13 and above name the topic by id (KIP-516)."""
        if version >= 13 and self.topic_id is None:
            raise CannotSay(f"Fetch v{version} names topics by id, and none was given")
        partition = {
            "partition": self.partition,
            "fetch_offset": self.offset,
            "partition_max_bytes": self.max_bytes,
        }
        return request(
            self.api,
            version,
            max_wait=self.max_wait_ms,
            min_bytes=self.min_bytes,
            max_bytes=self.max_bytes,
            isolation_level=self.isolation,
            topics=[{"topic": self.topic, "topic_id": self.topic_id, "partitions": [partition]}],
        )

    def read(self, response: ResponsePayload) -> FetchResult:
        """A top-level error (v7+) comes without partitions.

        :raises UnreadableAnswer: When the records are no log.
        """
        top = ResponseFields(response)
        if top.error() and not top.parts("responses"):
            return self._refused(top.error())
        partition = top.first("responses").first("partitions")
        log = read_fetched(partition)
        return FetchResult(
            error=first_error(top.error(), partition.error()),
            error_message=None,
            high_watermark=partition.number("high_watermark"),
            last_stable_offset=partition.number("last_stable_offset"),
            log_start_offset=partition.number("log_start_offset"),
            aborted=[
                (a.number("producer_id"), a.number("first_offset")) for a in partition.parts("aborted_transactions")
            ],
            batches=tuple(batch.truth() for batch in log),
            next_offset=log[-1].last_offset + 1 if log else self.offset,
        )

    def _refused(self, error: int) -> FetchResult:
        return FetchResult(
            error=error,
            error_message=None,
            high_watermark=-1,
            last_stable_offset=-1,
            log_start_offset=-1,
            aborted=[],
            batches=(),
            next_offset=self.offset,
        )


def read_fetched(partition: ResponseFields) -> tuple[LogBatch, ...]:
    """The batches of a partition's answer; :raises UnreadableAnswer: when the records are no log."""
    try:
        return read_log(partition.octets("records"))
    except UnreadableRecords as error:
        raise UnreadableAnswer(f"Fetch was answered with unreadable records: {error}") from error
