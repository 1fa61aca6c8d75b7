"""FindCoordinator: which broker coordinates a transactional id or a group."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kio.static.protocol import RequestPayload, ResponsePayload

from harness.wire.codec.request_builder import request, request_of
from harness.wire.codec.response_fields import ResponseFields, first_error
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FindCoordinatorsResult:
    """``nodes`` by key, without those that were answered with an error; ``error`` is the first that is not 0."""

    error: int
    error_message: str | None
    nodes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindCoordinators:
    """Ask who coordinates each of ``keys``, in one request (KIP-699)."""

    api: ClassVar[str] = FindCoordinator.api
    keys: tuple[str, ...]
    key_type: int = TRANSACTION

    def build(self, version: int) -> RequestPayload:
        """v3 and below ask for one key."""
        if version < 4:
            raise CannotBuild(f"FindCoordinator v{version} asks for one key")
        return request(self.api, version, key_type=self.key_type, coordinator_keys=self.keys)

    def read(self, response: ResponsePayload) -> FindCoordinatorsResult:
        """An answer for each key, in the broker's order."""
        answers = ResponseFields(response).parts("coordinators")
        return FindCoordinatorsResult(
            error=first_error(*(answer.error() for answer in answers)),
            error_message=next((answer.message() for answer in answers if answer.error()), None),
            nodes={answer.text("key"): answer.number("node_id") for answer in answers if not answer.error()},
        )
