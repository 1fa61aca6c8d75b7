"""LeaveGroup: a member leaves, so that the group need not wait for its session to end."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields, first_error


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroupResult:
    """Only an error, or 0; the top level's counts before the member's."""

    error: int
    error_message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroup:
    """``member`` leaves ``group``."""

    api: ClassVar[str] = "LeaveGroup"
    group: str
    member: str

    def build(self, version: int) -> RequestPayload:
        """v3 and above carry a list of members (KIP-345), here of one."""
        return request(
            self.api,
            version,
            group_id=self.group,
            member_id=self.member,
            members=[{"member_id": self.member}],
        )

    def read(self, response: ResponsePayload) -> LeaveGroupResult:
        """v3 and above answer for each member."""
        top = ResponseFields(response)
        errors = (part.error() for part in top.parts("members"))
        return LeaveGroupResult(error=first_error(top.error(), *errors), error_message=None)
