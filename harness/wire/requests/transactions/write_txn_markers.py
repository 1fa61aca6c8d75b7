"""WriteTxnMarkers: from a coordinator to partition leaders; by an operator, to end a hanging transaction (KIP-664)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.topic_partitions import by_topic, partition_name
from harness.wire.wire_errors import CannotBuild


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTxnMarkersResult:
    """``partitions`` gives the error of each, by name (``t-0``); ``error`` is the first that is not 0."""

    error: int
    error_message: str | None
    partitions: dict[str, int]


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

    def read(self, response: ResponsePayload) -> WriteTxnMarkersResult:
        """The same in every version."""
        partitions = {
            partition_name(topic.text("name"), partition.number("partition_index")): partition.error()
            for marker in ResponseFields(response).parts("markers")
            for topic in marker.parts("topics")
            for partition in topic.parts("partitions")
        }
        return WriteTxnMarkersResult(error=first_error(*partitions.values()), error_message=None, partitions=partitions)
