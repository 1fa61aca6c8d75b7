"""AlterPartitionReassignments: move partitions to other replicas (KIP-455)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.topic_partitions import by_topic, partition_name


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterPartitionReassignmentsResult:
    """``partitions`` gives the error of each, by name (``t-0``); ``error`` is the first that is not 0."""

    error: int
    error_message: str | None
    partitions: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterPartitionReassignments:
    """New replica lists by topic and partition; None cancels a reassignment under way."""

    api: ClassVar[str] = "AlterPartitionReassignments"
    replicas: Mapping[tuple[str, int], tuple[int, ...] | None]
    timeout_ms: int = 30_000

    def build(self, version: int) -> RequestPayload:
        """The same in every version."""
        wanted = by_topic(
            (topic, {"partition_index": index, "replicas": replicas})
            for (topic, index), replicas in self.replicas.items()
        )
        topics: Value = [{"name": name, "partitions": partitions} for name, partitions in wanted.items()]
        return request(self.api, version, topics=topics, timeout=self.timeout_ms)

    def read(self, response: ResponsePayload) -> AlterPartitionReassignmentsResult:
        """The top level's error counts before the partitions'."""
        top = ResponseFields(response)
        answers = {
            partition_name(topic.text("name"), partition.number("partition_index")): partition
            for topic in top.parts("responses")
            for partition in topic.parts("partitions")
        }
        everything = (top, *answers.values())
        return AlterPartitionReassignmentsResult(
            error=first_error(*(answer.error() for answer in everything)),
            error_message=next((answer.message() for answer in everything if answer.error()), None),
            partitions={name: answer.error() for name, answer in answers.items()},
        )
