"""DescribeProducers: the producers that a partition's leader knows, with what they have open (KIP-664)."""

from dataclasses import dataclass
from typing import ClassVar, TypedDict

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import by_partition
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.topic_partitions import TopicPartition, by_topic


class ActiveProducer(TypedDict):
    """A producer; ``current_txn_start_offset`` is -1 when it has nothing open, ``last_timestamp`` milliseconds."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    current_txn_start_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeProducersResult:
    """``producers`` in the broker's order; twice where the partition is answered twice."""

    error: int
    error_message: str | None
    producers: list[ActiveProducer]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeProducers:
    """Ask the leader of one partition."""

    api: ClassVar[str] = "DescribeProducers"
    topic: str
    partition: int

    def build(self, version: int) -> RequestPayload:
        topic: Value = {"name": self.topic, "partition_indexes": (self.partition,)}
        return request(self.api, version, topics=[topic])

    def read(self, response: ResponsePayload) -> DescribeProducersResult:
        topics = ResponseFields(response)
        partition = topics.first("topics").first("partitions")
        told = [part for topic in topics.parts("topics") for part in topic.parts("partitions")]
        return DescribeProducersResult(
            error=partition.error(),
            error_message=partition.message(),
            producers=[_producer(producer) for part in told for producer in part.parts("active_producers")],
        )


class PartitionProducers(TypedDict):
    """What one partition of several was answered with."""

    error: int
    error_message: str | None
    producers: list[ActiveProducer]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeProducersOfResult:
    """``partitions`` by name (``t-0``), in the broker's order; ``answers`` counts them, also those of one name."""

    error: int
    error_message: str | None
    answers: int
    partitions: dict[str, PartitionProducers]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeProducersOf:
    """Ask any broker about several partitions; it answers each for itself."""

    api: ClassVar[str] = DescribeProducers.api
    partitions: tuple[TopicPartition, ...]

    def build(self, version: int) -> RequestPayload:
        topics: Value = [
            {"name": name, "partition_indexes": indexes} for name, indexes in by_topic(self.partitions).items()
        ]
        return request(self.api, version, topics=topics)

    def read(self, response: ResponsePayload) -> DescribeProducersOfResult:
        topics = ResponseFields(response).parts("topics")
        parts = by_partition(topics)
        return DescribeProducersOfResult(
            error=first_error(*(part.error() for part in parts.values())),
            error_message=next((message for part in parts.values() if (message := part.message())), None),
            answers=sum(len(topic.parts("partitions")) for topic in topics),
            partitions={name: _of_partition(part) for name, part in parts.items()},
        )


def _of_partition(part: ResponseFields) -> PartitionProducers:
    return PartitionProducers(
        error=part.error(),
        error_message=part.message(),
        producers=[_producer(producer) for producer in part.parts("active_producers")],
    )


def _producer(producer: ResponseFields) -> ActiveProducer:
    return ActiveProducer(
        producer_id=producer.number("producer_id"),
        producer_epoch=producer.number("producer_epoch"),
        last_sequence=producer.number("last_sequence"),
        last_timestamp=producer.number("last_timestamp"),
        coordinator_epoch=producer.number("coordinator_epoch"),
        current_txn_start_offset=producer.number("current_txn_start_offset"),
    )
