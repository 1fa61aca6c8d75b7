"""Produce: record batches for partitions, in a transaction or not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypedDict
from uuid import UUID

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request_of
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.records.record_batch import NewBatch
from harness.wire.topic_partitions import by_topic, partition_name
from harness.wire.wire_errors import CannotBuild


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionBatch:
    """A batch and where it goes; ``topic_id`` (from Metadata) is needed at v13 and above, which name topics by it."""

    topic: str
    partition: int
    batch: NewBatch
    topic_id: UUID | None = None


class Produced(TypedDict):
    """The answer for one partition; ``base_offset`` is -1 with an error."""

    error: int
    error_message: str | None
    base_offset: int
    log_start_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceResult:
    """``partitions`` by name (``t-0``); ``error`` is the first that is not 0, the offsets are the first partition's."""

    error: int
    error_message: str | None
    base_offset: int
    log_start_offset: int
    partitions: dict[str, Produced]


@dataclass(frozen=True, slots=True, kw_only=True)
class Produce:
    """Write ``batches``. With ``acks=0`` no answer ever comes."""

    api: ClassVar[str] = "Produce"
    transactional_id: str | None
    batches: tuple[PartitionBatch, ...]
    acks: int = -1
    timeout_ms: int = 10_000

    def build(self, version: int) -> RequestPayload:
        """v13 and above name topics by id (KIP-516)."""
        if version >= 13 and any(batch.topic_id is None for batch in self.batches):
            raise CannotBuild(f"Produce v{version} names topics by id, and none was given")
        return request_of(self, version, timeout=self.timeout_ms, topic_data=self._topics())

    def _topics(self) -> list[Value]:
        ids = {batch.topic: batch.topic_id for batch in self.batches}
        grouped = by_topic((batch.topic, _partition(batch)) for batch in self.batches)
        return [{"name": name, "topic_id": ids[name], "partition_data": data} for name, data in grouped.items()]

    def read(self, response: ResponsePayload) -> ProduceResult:
        """v8 and above carry messages."""
        partitions = dict(self._produced(ResponseFields(response)))
        answers = list(partitions.values())
        return ProduceResult(
            error=first_error(*(answer["error"] for answer in answers)),
            error_message=next((answer["error_message"] for answer in answers if answer["error"]), None),
            base_offset=answers[0]["base_offset"] if answers else -1,
            log_start_offset=answers[0]["log_start_offset"] if answers else -1,
            partitions=partitions,
        )

    def _produced(self, top: ResponseFields) -> Iterator[tuple[str, Produced]]:
        names = {batch.topic_id: batch.topic for batch in self.batches}
        for topic in top.parts("responses"):
            name = topic.text("name") or names.get(topic.uuid("topic_id"), "")
            for partition in topic.parts("partition_responses"):
                yield partition_name(name, partition.number("index")), _produced(partition)


def _partition(batch: PartitionBatch) -> Value:
    return {"index": batch.partition, "records": batch.batch.encode()}


def _produced(partition: ResponseFields) -> Produced:
    return Produced(
        error=partition.error(),
        error_message=partition.message(),
        base_offset=partition.number("base_offset"),
        log_start_offset=partition.number("log_start_offset"),
    )
