"""Requests from Python values: nested mappings and sequences with kio's field names become kio entities.

A request gives the fields of all versions at once, and each version's schema takes those that it has.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeAlias, cast
from uuid import UUID

from kio.index import load_request_schema
from kio.static.protocol import Entity, RequestPayload

from harness.wire.api_names import key_of, known_versions
from harness.wire.api_request import ApiRequest
from harness.wire.codec.entity_schema import FieldShape, field_shapes
from harness.wire.wire_errors import CannotBuild

Value: TypeAlias = "bool | int | str | bytes | UUID | Sequence[Value] | Mapping[str, Value] | None"


def request(api: str, version: int, **fields: Value) -> RequestPayload:
    """The API's request at ``version``. Fields that the version lacks are left out; arrays not given are empty.

    Durations are integers in milliseconds.

    :raises CannotBuild: When kio has no schema for that version.
    :raises TypeError: When a field without a default is missing.
    """
    if version not in known_versions(api):
        known = known_versions(api)
        raise CannotBuild(f"{api} v{version} cannot be built; known are versions {known[0]}–{known[-1]}")
    return cast(RequestPayload, _entity(load_request_schema(key_of(api), version), fields))


def request_of(values: ApiRequest[Any], version: int, **fields: Value) -> RequestPayload:
    """As :func:`request`; fields of the dataclass that have kio's names are taken from it, the others are given."""
    own = {name: getattr(values, name) for name in cast(Any, values).__dataclass_fields__ if name != "api"}
    return request(values.api, version, **{**own, **fields})


def _entity(schema: type[Entity], values: Mapping[str, Value]) -> Entity:
    given = {shape.name: _field(shape, values[shape.name]) for shape in field_shapes(schema) if shape.name in values}
    empty = {shape.name: () for shape in field_shapes(schema) if shape.array and shape.required}
    construct = cast(Any, schema)
    return cast(Entity, construct(**{**empty, **given}))


def _field(shape: FieldShape, value: Value) -> object:
    if value is None or not shape.array:
        return _single(shape, value)
    return tuple(_single(shape, item) for item in cast(Sequence[Value], value))


def _single(shape: FieldShape, value: Value) -> object:
    if shape.entity is not None and value is not None:
        return _entity(shape.entity, cast(Mapping[str, Value], value))
    if shape.kind in ("timedelta_i32", "timedelta_i64"):
        return timedelta(milliseconds=cast(int, value))
    return value
