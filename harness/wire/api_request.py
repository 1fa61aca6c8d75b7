"""The port of one API: a value that can be said at any version, and its typed answer.

A verb is a frozen dataclass of what is asked (``EndTxn(transactional_id=…, committed=True)``). One verb is one file
under ``harness/wire/verbs``; adding one touches no other file.
"""

from typing import ClassVar, Protocol, TypeVar

from kio.static.protocol import RequestPayload, ResponsePayload


class ApiResult(Protocol):
    """Every answer says at least this; the rest are the verb's own fields."""

    @property
    def error(self) -> int:
        """The Kafka error code that counts: the top level's, else the first that is not 0 among the parts."""
        ...

    @property
    def error_message(self) -> str | None:
        """The broker's own words, where the version carries them."""
        ...


ResultT = TypeVar("ResultT", covariant=True, bound=ApiResult)


class ApiRequest(Protocol[ResultT]):
    """A request as a value, free of any version."""

    api: ClassVar[str]
    """The API's name in Kafka's spelling: ``EndTxn``."""

    def build(self, version: int) -> RequestPayload:
        """The request in that version's schema; fields that the version lacks are left out.

        :raises CannotSay: When leaving one out would change the question (a topic id, a filter, ``verify_only``).
        """
        ...

    def read(self, response: ResponsePayload) -> ResultT:
        """The typed answer."""
        ...
