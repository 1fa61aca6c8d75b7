"""WriteTxnMarkers: from a coordinator to partition leaders; by an operator, to end a hanging transaction (KIP-664)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import PartitionErrors, by_partition
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.topic_partitions import by_topic
from harness.wire.wire_errors import CannotBuild


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTxnMarkers:
    """Write a marker (COMMIT when ``committed``) to ``partitions``; ``transaction_version`` other than 0 needs v2."""

    api: ClassVar[str] = "WriteTxnMarkers"
    producer_id: int
    producer_epoch: int
    committed: bool
    partitions: tuple[tuple[str, int], ...]
    coordinator_epoch: int = 0
    transaction_version: int = 0

    def build(self, version: int) -> RequestPayload:
        """v2 has the transaction version by which the leader checks the epoch (KIP-1228)."""
        if version < 2 and self.transaction_version:
            raise CannotBuild(f"WriteTxnMarkers v{version} carries no transaction version")
        topics: Value = [
            {"name": name, "partition_indexes": indexes} for name, indexes in by_topic(self.partitions).items()
        ]
        marker: Value = {
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
            "transaction_result": self.committed,
            "topics": topics,
            "coordinator_epoch": self.coordinator_epoch,
            "transaction_version": self.transaction_version,
        }
        return request(self.api, version, markers=[marker])

    def read(self, response: ResponsePayload) -> PartitionErrors:
        top = ResponseFields(response)
        topics = [topic for marker in top.parts("markers") for topic in marker.parts("topics")]
        return PartitionErrors.of(top, by_partition(topics))
