"""DeleteGroups: groups without members, with the offsets that they committed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request
from harness.wire.codec.response_fields import ResponseFields, first_error


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroupsResult:
    """``groups`` gives the error of each by name; ``error`` is the first that is not 0."""

    error: int
    error_message: str | None
    groups: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroups:
    """Delete ``groups``, which the broker asked must coordinate."""

    api: ClassVar[str] = "DeleteGroups"
    groups: tuple[str, ...]

    def build(self, version: int) -> RequestPayload:
        return request(self.api, version, groups_names=self.groups)

    def read(self, response: ResponsePayload) -> DeleteGroupsResult:
        """No version carries messages."""
        answers = ResponseFields(response).parts("results")
        errors = {answer.text("group_id"): answer.error() for answer in answers}
        return DeleteGroupsResult(error=first_error(*errors.values()), error_message=None, groups=errors)
