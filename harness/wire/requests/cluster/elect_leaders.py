"""ElectLeaders: make the preferred replica lead, or, uncleanly, any (KIP-460)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import PartitionErrors, by_partition
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.topic_partitions import by_topic
from harness.wire.wire_errors import CannotBuild

PREFERRED, UNCLEAN = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectLeaders:
    """Elect leaders for ``partitions``; None for all."""

    api: ClassVar[str] = "ElectLeaders"
    partitions: tuple[tuple[str, int], ...] | None
    election_type: int = PREFERRED
    timeout_ms: int = 30_000

    def build(self, version: int) -> RequestPayload:
        """v0 elects preferred leaders only."""
        if version == 0 and self.election_type != PREFERRED:
            raise CannotBuild("ElectLeaders v0 elects preferred leaders only")
        wanted = by_topic(self.partitions or ())
        topics: Value = [{"topic": name, "partitions": indexes} for name, indexes in wanted.items()]
        return request(
            self.api,
            version,
            election_type=self.election_type,
            topic_partitions=None if self.partitions is None else topics,
            timeout=self.timeout_ms,
        )

    def read(self, response: ResponsePayload) -> PartitionErrors:
        """ELECTION_NOT_NEEDED (the wanted replica leads already) is an error here as on the wire."""
        top = ResponseFields(response)
        topics = top.parts("replica_election_results")
        answers = by_partition(topics, name="topic", parts="partition_result", index="partition_id")
        return PartitionErrors.of(top, answers)
