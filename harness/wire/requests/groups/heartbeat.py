"""Heartbeat: a member is alive, and learns whether its group rebalances."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import ErrorResult
from harness.wire.codec.request_builder import request_of
from harness.wire.codec.response_fields import ResponseFields


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """``member`` of ``generation`` is alive."""

    api: ClassVar[str] = "Heartbeat"
    group: str
    generation: int
    member: str

    def build(self, version: int) -> RequestPayload:
        return request_of(self, version, group_id=self.group, generation_id=self.generation, member_id=self.member)

    def read(self, response: ResponsePayload) -> ErrorResult:
        """REBALANCE_IN_PROGRESS asks the member to join again."""
        return ErrorResult.of(ResponseFields(response))
