"""ElectLeaders: make the preferred replica lead, or, uncleanly, any (KIP-460)."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields, first_error
from harness.wire.topic_partitions import by_topic, partition_name
from harness.wire.wire_errors import CannotBuild

PREFERRED = 0
UNCLEAN = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectLeadersResult:
    """``partitions`` gives the error of each, by name (``t-0``).

    ELECTION_NOT_NEEDED means that the wanted replica leads already; it is an error here as on the wire.
    """

    error: int
    error_message: str | None
    partitions: dict[str, int]


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

    def read(self, response: ResponsePayload) -> ElectLeadersResult:
        """The top level's error (v1+) counts before the partitions'."""
        top = ResponseFields(response)
        answers = {
            partition_name(topic.text("topic"), partition.number("partition_id")): partition
            for topic in top.parts("replica_election_results")
            for partition in topic.parts("partition_result")
        }
        return ElectLeadersResult(
            error=first_error(top.error(), *(answer.error() for answer in answers.values())),
            error_message=next((answer.message() for answer in answers.values() if answer.error()), None),
            partitions={name: answer.error() for name, answer in answers.items()},
        )
