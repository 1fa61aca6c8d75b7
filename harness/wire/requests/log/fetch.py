"""Fetch: a stretch of one partition's log as the broker keeps it, with its high watermark and last stable offset."""

from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.records.record_batch import LogBatch, read_log
from harness.wire.wire_errors import CannotBuild, UnreadableAnswer, UnreadableRecords

READ_UNCOMMITTED = 0
READ_COMMITTED = 1
LAST_BY_NAME = 12
"""The last version that names topics; later ones go by id (KIP-516)."""
LAST_OF_LEADERS = 10
"""The last version that a leader alone answers; from 11 on a follower serves a consumer too (KIP-392)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult:
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
class Fetch:
    """Read one partition from ``offset``, outside any fetch session.

    :param isolation: :data:`READ_UNCOMMITTED` reads to the high watermark, :data:`READ_COMMITTED` to the LSO.
    :param max_bytes: At least one batch comes, however large.
    :param leader_epoch: Whose leader is asked: a broker of another epoch refuses (KIP-320, v9+); -1 leaves it open.
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
    leader_epoch: int = -1

    def build(self, version: int) -> RequestPayload:
        """v13 and above name the topic by id (KIP-516)."""
        if version > LAST_BY_NAME and self.topic_id is None:
            raise CannotBuild(f"Fetch v{version} names topics by id, and none was given")
        partition = {
            "partition": self.partition,
            "current_leader_epoch": self.leader_epoch,
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
        """A top-level error (v7+) comes without partitions; :raises UnreadableAnswer: when the records are no log."""
        top = ResponseFields(response)
        if top.error() and not top.parts("responses"):
            return self._result(top.error(), ResponseFields(None))
        partition = top.first("responses").first("partitions")
        return self._result(first_error(top.error(), partition.error()), partition)

    def _result(self, error: int, partition: ResponseFields) -> FetchResult:
        log = _batches(partition)
        return FetchResult(
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


def _batches(partition: ResponseFields) -> tuple[LogBatch, ...]:
    try:
        return read_log(partition.octets("records"))
    except UnreadableRecords as error:
        raise UnreadableAnswer(f"Fetch was answered with unreadable records: {error}") from error
