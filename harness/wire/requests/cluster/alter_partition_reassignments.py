"""AlterPartitionReassignments: move partitions to other replicas (KIP-455)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import PartitionErrors, by_partition
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.topic_partitions import by_topic


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterPartitionReassignments:
    """New replica lists by topic and partition; None cancels a reassignment under way."""

    api: ClassVar[str] = "AlterPartitionReassignments"
    replicas: Mapping[tuple[str, int], tuple[int, ...] | None]
    timeout_ms: int = 30_000

    def build(self, version: int) -> RequestPayload:
        wanted = by_topic(
            (topic, {"partition_index": index, "replicas": replicas})
            for (topic, index), replicas in self.replicas.items()
        )
        topics: Value = [{"name": name, "partitions": partitions} for name, partitions in wanted.items()]
        return request(self.api, version, topics=topics, timeout=self.timeout_ms)

    def read(self, response: ResponsePayload) -> PartitionErrors:
        top = ResponseFields(response)
        return PartitionErrors.of(top, by_partition(top.parts("responses")))
