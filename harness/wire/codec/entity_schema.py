"""How a kio entity is laid out, field by field, as its generated dataclass declares it.

By these shapes requests are built from Python values, messages are read and written, and turned into JSON.
"""

from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from kio.index import load_request_schema, load_response_schema
from kio.static.protocol import Entity, RequestPayload, ResponsePayload


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldShape:
    """One field. ``kind`` is Kafka's type (``int16``, ``timedelta_i32``), None for a nested ``entity``."""

    name: str
    kind: str | None
    entity: type[Entity] | None
    array: bool
    nullable: bool
    tag: int | None
    default: object

    @property
    def required(self) -> bool:
        """Whether the schema gives no default."""
        return self.default is MISSING


@cache
def request_schema(key: int, version: int) -> type[RequestPayload]:
    """The request of an API's key; :raises kio.index.KioIndexError: when kio has none."""
    return load_request_schema(key, version)


@cache
def response_schema(key: int, version: int) -> type[ResponsePayload]:
    """The answer, likewise."""
    return load_response_schema(key, version)


@cache
def field_shapes(entity: type[Entity]) -> tuple[FieldShape, ...]:
    """The entity's fields in wire order; tagged fields (KIP-482) are among them, with their tag."""
    hints = get_type_hints(entity)
    return tuple(_shape(field, hints[field.name]) for field in fields(entity))


def _shape(field: Field[Any], hint: object) -> FieldShape:
    inner = _without_none(hint)
    array = get_origin(inner) is tuple
    kind = field.metadata.get("kafka_type")
    return FieldShape(
        name=field.name,
        kind=kind,
        entity=None if kind else _element(inner),
        array=array,
        nullable=inner is not hint,
        tag=field.metadata.get("tag"),
        default=field.default,
    )


def _element(hint: object) -> Any:
    return _without_none(get_args(hint)[0]) if get_origin(hint) is tuple else hint


def _without_none(hint: object) -> object:
    if get_origin(hint) not in (Union, UnionType):
        return hint
    return next(part for part in get_args(hint) if part is not NoneType)
