"""Fetch for high watermarks and last stable offsets alone: many partitions of one leader in one request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.requests.log.fetch import LAST_BY_NAME
from harness.wire.topic_partitions import TopicPartition, by_topic
from harness.wire.wire_errors import CannotBuild


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchWatermarksResult:
    """``watermarks`` has (high watermark, last stable offset) of each partition that the broker answered for.

    ``partitions`` gives each one's error; ``error`` is the first that is not 0.
    """

    error: int
    error_message: str | None
    watermarks: dict[TopicPartition, tuple[int, int]]
    partitions: dict[TopicPartition, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchWatermarks:
    """Ask the leader of ``partitions``; v12 at most.

    The request wants one byte from each log's beginning: the first partition gives one batch, the others none.

    :param log_starts: Where the logs begin; 0 where one is left out, which is out of range once records were deleted.
    :param leader_epochs: Whose leader is asked, as for ``Fetch``; partitions that are left out are of no certain epoch.
    """

    api: ClassVar[str] = "Fetch"
    partitions: Sequence[TopicPartition]
    log_starts: Mapping[TopicPartition, int] = field(default_factory=dict)
    leader_epochs: Mapping[TopicPartition, int] = field(default_factory=dict)

    def build(self, version: int) -> RequestPayload:
        """Outside any fetch session, read_uncommitted; the answer has the last stable offset all the same."""
        if version > LAST_BY_NAME:
            raise CannotBuild(f"Fetch v{version} names topics by id, and none was given")
        wanted = by_topic((each[0], self._from_beginning(each)) for each in self.partitions)
        topics: list[Value] = [{"topic": topic, "partitions": parts} for topic, parts in wanted.items()]
        return request(self.api, version, max_wait=0, min_bytes=0, max_bytes=1, isolation_level=0, topics=topics)

    def read(self, response: ResponsePayload) -> FetchWatermarksResult:
        """The records are not read; a partition whose offsets the broker does not know is left out."""
        top = ResponseFields(response)
        parts = {
            (topic.text("topic"), part.number("partition_index")): part
            for topic in top.parts("responses")
            for part in topic.parts("partitions")
        }
        errors = {each: part.error() for each, part in parts.items()}
        read = {each: (p.number("high_watermark"), p.number("last_stable_offset")) for each, p in parts.items()}
        return FetchWatermarksResult(
            error=first_error(top.error(), *errors.values()),
            error_message=None,
            watermarks={each: both for each, both in read.items() if errors[each] == 0 and min(both) >= 0},
            partitions=errors,
        )

    def _from_beginning(self, partition: TopicPartition) -> Value:
        epoch = self.leader_epochs.get(partition, -1)
        start = self.log_starts.get(partition, 0)
        return {
            "partition": partition[1],
            "current_leader_epoch": epoch,
            "fetch_offset": start,
            "partition_max_bytes": 1,
        }
