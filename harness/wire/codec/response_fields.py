"""Typed access to the fields of an answer of any version: a field that the version lacks gives the default."""

from dataclasses import dataclass
from uuid import UUID

from harness.wire.wire_errors import UnreadableAnswer


@dataclass(frozen=True, slots=True)
class ResponseFields:
    """A kio entity of an answer, as :mod:`harness.wire.codec.entity_decoder` reads it; times are milliseconds."""

    entity: object

    def has(self, name: str) -> bool:
        """Whether this version has the field."""
        return hasattr(self.entity, name)

    def number(self, name: str, default: int = -1) -> int:
        """An integer field; null and absent give ``default``."""
        value = getattr(self.entity, name, None)
        return int(value) if isinstance(value, int) else default

    def text(self, name: str, default: str = "") -> str:
        """A string field; null and absent give ``default``."""
        value = getattr(self.entity, name, None)
        return value if isinstance(value, str) else default

    def message(self, name: str = "error_message") -> str | None:
        """The broker's message; None where there is none or the version has no field for it."""
        return self.text(name) or None

    def octets(self, name: str) -> bytes:
        """A bytes or records field; null and absent give no bytes."""
        return getattr(self.entity, name, None) or b""

    def uuid(self, name: str) -> UUID | None:
        """A topic id; Kafka's zero id and an absent field give None."""
        value = getattr(self.entity, name, None)
        return value if isinstance(value, UUID) else None

    def numbers(self, name: str) -> tuple[int, ...]:
        """An array of integers; null and absent give an empty one."""
        return tuple(int(value) for value in getattr(self.entity, name, None) or ())

    def texts(self, name: str) -> tuple[str, ...]:
        """An array of strings; null and absent give an empty one."""
        return tuple(str(value) for value in getattr(self.entity, name, None) or ())

    def parts(self, name: str) -> tuple["ResponseFields", ...]:
        """An array of nested entities; null and absent give an empty one."""
        return tuple(ResponseFields(part) for part in getattr(self.entity, name, None) or ())

    def first(self, name: str) -> "ResponseFields":
        """The first nested entity of an array; :raises UnreadableAnswer: when the broker answered with none."""
        match self.parts(name):
            case (first, *_):
                return first
            case _:
                raise UnreadableAnswer(f"{type(self.entity).__name__} came with no {name}")

    def error(self, name: str = "error_code") -> int:
        """An error code; 0 in versions that have none."""
        return self.number(name, 0)


def first_error(*codes: int) -> int:
    """The first code that is not 0, else 0.

    >>> first_error(0, 48, 47)
    48
    """
    return next((code for code in codes if code), 0)
