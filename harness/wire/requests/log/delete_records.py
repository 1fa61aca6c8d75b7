"""DeleteRecords: move the beginning of a partition's log forward (KIP-107)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields

HIGH_WATERMARK = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRecordsResult:
    """``low_watermark`` is where the log begins on every replica now; -1 with an error."""

    error: int
    error_message: str | None
    low_watermark: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRecords:
    """Ask the leader to delete what lies before ``offset``; :data:`HIGH_WATERMARK` deletes all that was committed."""

    api: ClassVar[str] = "DeleteRecords"
    topic: str
    partition: int
    offset: int = HIGH_WATERMARK
    timeout_ms: int = 10_000

    def build(self, version: int) -> RequestPayload:
        partition: Value = {"partition_index": self.partition, "offset": self.offset}
        topics: list[Value] = [{"name": self.topic, "partitions": [partition]}]
        return request(self.api, version, topics=topics, timeout=self.timeout_ms)

    def read(self, response: ResponsePayload) -> DeleteRecordsResult:
        partition = ResponseFields(response).first("topics").first("partitions")
        return DeleteRecordsResult(
            error=partition.error(), error_message=None, low_watermark=partition.number("low_watermark")
        )
