"""AddPartitionsToTxn: partitions enter a transaction, or a broker asks whether they are in it (KIP-98, KIP-890)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import PartitionErrors, by_partition
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.topic_partitions import by_topic
from harness.wire.wire_errors import CannotBuild


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitionsToTxn:
    """Add ``partitions``; ``verify_only`` (v4+, from a broker to the coordinator) adds nothing."""

    api: ClassVar[str] = "AddPartitionsToTxn"
    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: tuple[tuple[str, int], ...]
    verify_only: bool = False

    def build(self, version: int) -> RequestPayload:
        """v4 and above carry a batch of transactions, here of one."""
        if version < 4 and self.verify_only:
            raise CannotBuild(f"AddPartitionsToTxn v{version} cannot ask to verify only")
        topics: Value = [{"name": name, "partitions": indexes} for name, indexes in by_topic(self.partitions).items()]
        producer: dict[str, Value] = {
            "transactional_id": self.transactional_id,
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
        }
        if version < 4:
            single = {f"v3_and_below_{name}": value for name, value in producer.items()}
            return request(self.api, version, **single, v3_and_below_topics=topics)
        return request(
            self.api, version, transactions=[{**producer, "verify_only": self.verify_only, "topics": topics}]
        )

    def read(self, response: ResponsePayload) -> PartitionErrors:
        """The top level's error (v4+) counts before the partitions'."""
        top = ResponseFields(response)
        batched = [topic for part in top.parts("results_by_transaction") for topic in part.parts("topic_results")]
        answers = by_partition(batched or top.parts("results_by_topic_v3_and_below"), parts="results_by_partition")
        return PartitionErrors.of(top, answers, code="partition_error_code")
