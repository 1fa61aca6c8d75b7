"""Requests from Python values: nested mappings and sequences with kio's field names become kio entities.

A request gives the fields of all versions at once, and each version's schema takes those that it has.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any, TypeAlias, cast
from uuid import UUID

from kio.static.protocol import Entity, RequestPayload

from harness.wire.api_names import key_of, known_versions
from harness.wire.api_request import ApiRequest
from harness.wire.codec.entity_schema import FieldShape, field_shapes, request_schema
from harness.wire.wire_errors import CannotBuild

Value: TypeAlias = "bool | int | str | bytes | UUID | Sequence[Value] | Mapping[str, Value] | None"
Convert: TypeAlias = Callable[[Any], object]


def request(api: str, version: int, **fields: Value) -> RequestPayload:
    """The API's request at ``version``. Fields that the version lacks are left out; arrays not given are empty.

    Durations are integers in milliseconds.

    :raises CannotBuild: When kio has no schema for that version.
    :raises TypeError: When a field without a default is missing.
    """
    if version not in known_versions(api):
        known = known_versions(api)
        raise CannotBuild(f"{api} v{version} cannot be built; known are versions {known[0]}–{known[-1]}")
    return cast(RequestPayload, _entity(request_schema(key_of(api), version), fields))


def request_of(values: ApiRequest[Any], version: int, **fields: Value) -> RequestPayload:
    """As :func:`request`; fields of the dataclass that have kio's names are taken from it, the others are given."""
    own = {name: getattr(values, name) for name in cast(Any, values).__dataclass_fields__ if name != "api"}
    return request(values.api, version, **{**own, **fields})


@cache
def _plan(schema: type[Entity]) -> tuple[Mapping[str, object], Sequence[tuple[str, Convert | None]]]:
    """What is there unless it is given, and how a given field becomes the entity's; None: as it is."""
    shapes = field_shapes(schema)
    return (
        {shape.name: () for shape in shapes if shape.array and shape.required},
        [(shape.name, _converter(shape)) for shape in shapes],
    )


def _entity(schema: type[Entity], values: Mapping[str, Value]) -> Entity:
    empty, fields = _plan(schema)
    given = dict(empty)
    for name, convert in fields:
        if name in values:
            value = values[name]
            given[name] = value if convert is None or value is None else convert(value)
    return cast(Entity, cast(Any, schema)(**given))


def _converter(shape: FieldShape) -> Convert | None:
    single = _single(shape)
    if not shape.array:
        return single
    return tuple if single is None else lambda items: tuple(map(single, items))


def _single(shape: FieldShape) -> Convert | None:
    if (schema := shape.entity) is not None:
        return lambda value: None if value is None else _entity(schema, value)
    if shape.kind in ("timedelta_i32", "timedelta_i64"):
        return lambda value: timedelta(milliseconds=value)
    return None
