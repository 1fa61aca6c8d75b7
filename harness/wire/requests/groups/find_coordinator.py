"""FindCoordinator: which broker coordinates a transactional id or a group."""

from dataclasses import dataclass
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request_of
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.wire_errors import CannotBuild

GROUP = 0
TRANSACTION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FindCoordinatorResult:
    """``node`` is -1 with an error."""

    error: int
    error_message: str | None
    node: int
    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FindCoordinator:
    """Ask who coordinates ``key``; ``key_type`` is :data:`TRANSACTION` or :data:`GROUP`."""

    api: ClassVar[str] = "FindCoordinator"
    key: str
    key_type: int = TRANSACTION

    def build(self, version: int) -> RequestPayload:
        """v0 knows groups only; v4 and above ask for a batch of keys (KIP-699), here of one."""
        if version == 0 and self.key_type != GROUP:
            raise CannotBuild("FindCoordinator v0 finds groups only")
        return request_of(self, version, coordinator_keys=(self.key,))

    def read(self, response: ResponsePayload) -> FindCoordinatorResult:
        """The single answer, or the only one of the batch."""
        top = ResponseFields(response)
        found = top.first("coordinators") if top.has("coordinators") else top
        return FindCoordinatorResult(
            error=found.error(),
            error_message=found.message(),
            node=found.number("node_id"),
            host=found.text("host"),
            port=found.number("port"),
        )
