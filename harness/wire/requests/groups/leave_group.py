"""LeaveGroup: a member leaves, so that the group need not wait for its session to end."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.api_results import ErrorResult
from harness.wire.codec.request_builder import request_of
from harness.wire.codec.response_fields import ResponseFields


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroup:
    """``member`` leaves ``group``."""

    api: ClassVar[str] = "LeaveGroup"
    group: str
    member: str

    def build(self, version: int) -> RequestPayload:
        """v3 and above carry a list of members (KIP-345), here of one."""
        return request_of(
            self, version, group_id=self.group, member_id=self.member, members=[{"member_id": self.member}]
        )

    def read(self, response: ResponsePayload) -> ErrorResult:
        """The top level's error, else the member's (v3+)."""
        return ErrorResult.of(ResponseFields(response), *ResponseFields(response).parts("members"))
