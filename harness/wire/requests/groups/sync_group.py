"""SyncGroup: the leader gives the assignments of a generation, and every member gets its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request_of
from harness.wire.codec.response_fields import ResponseFields


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroupResult:
    """``assignment`` is the member's own, encoded as the leader encoded it."""

    error: int
    error_message: str | None
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroup:
    """Ask for one's assignment; the leader gives ``assignments`` by member id, the others none."""

    api: ClassVar[str] = "SyncGroup"
    group: str
    generation: int
    member: str
    protocol: str
    assignments: Mapping[str, bytes] = field(default_factory=dict)
    protocol_type: str = "consumer"

    def build(self, version: int) -> RequestPayload:
        """v5 and above repeat protocol and its type (KIP-559)."""
        return request_of(
            self,
            version,
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member,
            protocol_name=self.protocol,
            assignments=[{"member_id": member, "assignment": given} for member, given in self.assignments.items()],
        )

    def read(self, response: ResponsePayload) -> SyncGroupResult:
        top = ResponseFields(response)
        return SyncGroupResult(error=top.error(), error_message=None, assignment=top.octets("assignment"))
