"""ListOffsets: the offset at a time, or the end or beginning of a partition."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.wire_errors import CannotBuild

LATEST = -1
EARLIEST = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOffsetsResult:
    """``offset``, ``timestamp_ms`` and ``leader_epoch`` are -1 where unknown."""

    error: int
    error_message: str | None
    offset: int
    timestamp_ms: int
    leader_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOffsets:
    """Ask the leader; ``timestamp`` in milliseconds since 1970, :data:`LATEST` or :data:`EARLIEST`.

    ``isolation`` 1 (read_committed) makes LATEST the last stable offset; 0 the high watermark.

    :param leader_epoch: Whose leader is asked: a broker of another epoch refuses (KIP-320, v4+); -1 leaves it open.
    """

    api: ClassVar[str] = "ListOffsets"
    topic: str
    partition: int
    timestamp: int = LATEST
    isolation: int = 0
    leader_epoch: int = -1

    def build(self, version: int) -> RequestPayload:
        """v2 and above know isolation."""
        if version < 2 and self.isolation:
            raise CannotBuild(f"ListOffsets v{version} knows no isolation level")
        partition = {
            "partition_index": self.partition,
            "current_leader_epoch": self.leader_epoch,
            "timestamp": self.timestamp,
        }
        return request(
            self.api,
            version,
            replica_id=-1,
            isolation_level=self.isolation,
            topics=[{"name": self.topic, "partitions": [partition]}],
            timeout=10_000,
        )

    def read(self, response: ResponsePayload) -> ListOffsetsResult:
        """v4 and above carry the leader epoch."""
        partition = ResponseFields(response).first("topics").first("partitions")
        return ListOffsetsResult(
            error=partition.error(),
            error_message=None,
            offset=partition.number("offset"),
            timestamp_ms=partition.number("timestamp"),
            leader_epoch=partition.number("leader_epoch"),
        )
