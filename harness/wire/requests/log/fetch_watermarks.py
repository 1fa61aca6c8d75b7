"""Fetch for nothing but high watermarks and last stable offsets: every partition of one leader in one request."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.topic_partitions import by_topic
from harness.wire.wire_errors import CannotSay

BY_NAME = 12
"""The last version of Fetch that names topics; later ones go by id (KIP-516)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchWatermarksResult:
    """``levels`` has (high watermark, last stable offset) of each topic and index that the broker answered for.

    ``partitions`` gives each one's error; ``error`` is the first that is not 0.
    """

    error: int
    error_message: str | None
    levels: dict[tuple[str, int], tuple[int, int]]
    partitions: dict[tuple[str, int], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchWatermarks:
    """Ask a leader for the levels of ``partitions``, topic and index; v12 at most.

    The request wants one byte from each log's beginning: the first partition gives one batch, the others none.
    """

    api: ClassVar[str] = "Fetch"
    partitions: Sequence[tuple[str, int]]

    def build(self, version: int) -> RequestPayload:
        """Outside any fetch session, read_uncommitted; both levels are told all the same."""
        if version > BY_NAME:
            raise CannotSay(f"Fetch v{version} names topics by id, and none was given")
        wanted = by_topic((topic, _from_beginning(index)) for topic, index in self.partitions)
        topics: list[Value] = [{"topic": topic, "partitions": parts} for topic, parts in wanted.items()]
        return request(self.api, version, max_wait=0, min_bytes=0, max_bytes=1, isolation_level=0, topics=topics)

    def read(self, response: ResponsePayload) -> FetchWatermarksResult:
        """The records are left alone; a level that the broker does not know is no level."""
        top = ResponseFields(response)
        parts = {
            (topic.text("topic"), part.number("partition_index")): part
            for topic in top.parts("responses")
            for part in topic.parts("partitions")
        }
        errors = {place: part.error() for place, part in parts.items()}
        read = {place: (p.number("high_watermark"), p.number("last_stable_offset")) for place, p in parts.items()}
        return FetchWatermarksResult(
            error=first_error(top.error(), *errors.values()),
            error_message=None,
            levels={place: both for place, both in read.items() if errors[place] == 0 and min(both) >= 0},
            partitions=errors,
        )


def _from_beginning(partition: int) -> Value:
    return {"partition": partition, "fetch_offset": 0, "partition_max_bytes": 1}
