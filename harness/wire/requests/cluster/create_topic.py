"""CreateTopics, one topic at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopicResult:
    """``topic_id`` as 8-4-4-4-12 hexadecimal digits, None before v7 and with an error."""

    error: int
    error_message: str | None
    topic_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopic:
    """Create ``name``, with replica lists by partition (``assignment``) or with replicas that the controller chooses.

    Any broker takes it and hands it to the controller. An answer without error does not mean that every broker knows
    the topic: wait for its leader in Metadata.
    """

    api: ClassVar[str] = "CreateTopics"
    name: str
    assignment: Mapping[int, tuple[int, ...]] | None = None
    partitions: int = 1
    replicas: int = 1
    configs: Mapping[str, str] = field(default_factory=dict)
    timeout_ms: int = 30_000

    def build(self, version: int) -> RequestPayload:
        """With an assignment, both counts must be -1 (Kafka's ``ReplicationControlManager``)."""
        placed = self.assignment is not None
        topic: Value = {
            "name": self.name,
            "num_partitions": -1 if placed else self.partitions,
            "replication_factor": -1 if placed else self.replicas,
            "assignments": [{"partition_index": p, "broker_ids": ids} for p, ids in (self.assignment or {}).items()],
            "configs": [{"name": name, "value": value} for name, value in self.configs.items()],
        }
        return request(self.api, version, topics=[topic], timeout=self.timeout_ms, validate_only=False)

    def read(self, response: ResponsePayload) -> CreateTopicResult:
        topic = ResponseFields(response).first("topics")
        topic_id = topic.uuid("topic_id")
        return CreateTopicResult(
            error=topic.error(),
            error_message=topic.message(),
            topic_id=str(topic_id) if topic_id else None,
        )
