"""JoinGroup: a consumer asks to be a member; answered when the group's new generation begins (KIP-394, KIP-345)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request_of
from harness.wire.codec.response_fields import ResponseFields


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroupResult:
    """``members`` (metadata by member id) comes to the leader alone; ``member`` also comes with MEMBER_ID_REQUIRED."""

    error: int
    error_message: str | None
    generation: int
    protocol: str
    leader: str
    member: str
    members: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroup:
    """Ask to join as ``member`` (empty: a new one). Times in milliseconds.

    :param protocols: Assignors that this member knows, by preference, each with its encoded subscription.
    :param rebalance_timeout_ms: How long the broker waits for the other members before it goes on without them.
    """

    api: ClassVar[str] = "JoinGroup"
    group: str
    member: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: Sequence[tuple[str, bytes]]
    protocol_type: str = "consumer"

    def build(self, version: int) -> RequestPayload:
        """v0 has no rebalance timeout of its own: the session's counts."""
        return request_of(
            self,
            version,
            group_id=self.group,
            session_timeout=self.session_timeout_ms,
            rebalance_timeout=self.rebalance_timeout_ms,
            member_id=self.member,
            protocols=[{"name": name, "metadata": metadata} for name, metadata in self.protocols],
        )

    def read(self, response: ResponsePayload) -> JoinGroupResult:
        top = ResponseFields(response)
        return JoinGroupResult(
            error=top.error(),
            error_message=None,
            generation=top.number("generation_id"),
            protocol=top.text("protocol_name"),
            leader=top.text("leader"),
            member=top.text("member_id"),
            members={part.text("member_id"): part.octets("metadata") for part in top.parts("members")},
        )
