"""The port of one API: a request as a value that is free of any version, and its typed result.

A request is a frozen dataclass (``EndTxn(transactional_id=…, committed=True)``), one file below
``harness/wire/requests``; adding one touches no other file.
"""

from typing import ClassVar, Protocol, TypeVar

from kio.static.protocol import RequestPayload, ResponsePayload


class ApiResult(Protocol):
    """What every result has; the rest are fields of its own."""

    @property
    def error(self) -> int:
        """The Kafka error code that counts: the top level's, else the first that is not 0 among the parts."""

    @property
    def error_message(self) -> str | None:
        """The broker's message, where the version carries one."""


ResultT = TypeVar("ResultT", covariant=True, bound=ApiResult)


class ApiRequest(Protocol[ResultT]):
    """A request as a value, free of any version."""

    api: ClassVar[str]
    """The API's name in Kafka's spelling: ``EndTxn``."""

    def build(self, version: int) -> RequestPayload:
        """The request in that version's schema; fields that the version lacks are left out.

        :raises CannotBuild: When leaving one out would change the meaning (a topic id, a filter, ``verify_only``).
        """

    def read(self, response: ResponsePayload) -> ResultT:
        """The typed answer."""
