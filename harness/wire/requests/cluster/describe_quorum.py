"""DescribeQuorum: who leads the metadata quorum, as the answering node knows it (KIP-595)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields, first_error

METADATA_TOPIC = "__cluster_metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeQuorumResult:
    """``leader`` is -1 where it is not known; ``error`` is the first of the answer and its partition.

    :param voters: How far the leader knows the log of each voter to reach, by node id.
    """

    error: int
    error_message: str | None
    leader: int
    voters: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeQuorum:
    """Ask for the one partition of ``__cluster_metadata``; a broker passes the question on to the active controller."""

    api: ClassVar[str] = "DescribeQuorum"

    def build(self, version: int) -> RequestPayload:
        partitions = [{"partition_index": 0}]
        return request(self.api, version, topics=[{"topic_name": METADATA_TOPIC, "partitions": partitions}])

    def read(self, response: ResponsePayload) -> DescribeQuorumResult:
        """The one partition's leader."""
        top = ResponseFields(response)
        parts = [part for topic in top.parts("topics") for part in topic.parts("partitions")]
        return DescribeQuorumResult(
            error=first_error(top.error(), *(part.error() for part in parts)),
            error_message=top.message(),
            leader=parts[0].number("leader_id") if parts else -1,
            voters={
                voter.number("replica_id"): voter.number("log_end_offset")
                for part in parts
                for voter in part.parts("current_voters")
            },
        )
