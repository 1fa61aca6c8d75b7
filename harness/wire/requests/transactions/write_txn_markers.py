"""WriteTxnMarkers: from a coordinator to partition leaders; by an operator, to end a hanging transaction (KIP-664)."""

from dataclasses import dataclass
from typing import ClassVar, TypedDict

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import PartitionErrors, by_partition
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.topic_partitions import TopicPartition, by_topic, partition_name
from harness.wire.wire_errors import CannotBuild


@dataclass(frozen=True, slots=True, kw_only=True)
class TxnMarker:
    """A marker for ``partitions``, COMMIT when ``committed``; ``transaction_version`` other than 0 needs v2."""

    producer_id: int
    producer_epoch: int
    committed: bool
    partitions: tuple[TopicPartition, ...]
    coordinator_epoch: int = 0
    transaction_version: int = 0

    def built(self, version: int) -> dict[str, Value]:
        """v2 has the transaction version by which the leader checks the epoch (KIP-1228)."""
        if version < 2 and self.transaction_version:
            raise CannotBuild(f"WriteTxnMarkers v{version} carries no transaction version")
        return {
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
            "transaction_result": self.committed,
            "topics": [
                {"name": name, "partition_indexes": indexes} for name, indexes in by_topic(self.partitions).items()
            ],
            "coordinator_epoch": self.coordinator_epoch,
            "transaction_version": self.transaction_version,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTxnMarkers(TxnMarker):
    """Write one marker."""

    api: ClassVar[str] = "WriteTxnMarkers"

    def build(self, version: int) -> RequestPayload:
        return request(self.api, version, markers=[self.built(version)])

    def read(self, response: ResponsePayload) -> PartitionErrors:
        top = ResponseFields(response)
        topics = [topic for marker in top.parts("markers") for topic in marker.parts("topics")]
        return PartitionErrors.of(top, by_partition(topics))


class WrittenMarker(TypedDict):
    """What a marker was answered with on one partition (``t-0``)."""

    producer_id: int
    partition: str
    error: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSeveralTxnMarkersResult:
    """``markers`` in the broker's order, a row for each partition of each; ``error`` is their first."""

    error: int
    error_message: str | None
    markers: list[WrittenMarker]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSeveralTxnMarkers:
    """Write several markers in one request."""

    api: ClassVar[str] = WriteTxnMarkers.api
    markers: tuple[TxnMarker, ...]

    def build(self, version: int) -> RequestPayload:
        return request(self.api, version, markers=[marker.built(version) for marker in self.markers])

    def read(self, response: ResponsePayload) -> WriteSeveralTxnMarkersResult:
        rows = [row for marker in ResponseFields(response).parts("markers") for row in _written(marker)]
        return WriteSeveralTxnMarkersResult(
            error=first_error(*(row["error"] for row in rows)), error_message=None, markers=rows
        )


def _written(marker: ResponseFields) -> list[WrittenMarker]:
    return [
        WrittenMarker(
            producer_id=marker.number("producer_id"),
            partition=partition_name(topic.text("name"), part.number("partition_index")),
            error=part.error(),
        )
        for topic in marker.parts("topics")
        for part in topic.parts("partitions")
    ]
