"""Messages to bytes: the inverse of :mod:`harness.wire.codec.entity_decoder`, with the same integers.

kio's own writer wants its own types (an error code that it lists, a duration, a time); what was read leniently has
integers, and is written back as it was, apart from fields that were changed on purpose.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Any, cast

from kio.serial import writers
from kio.serial.writers import Writer
from kio.static.protocol import Entity

from harness.wire.codec.entity_schema import FieldShape, field_shapes

_FIXED: Mapping[str, Writer[Any]] = {
    "int8": writers.write_int8,
    "int16": writers.write_int16,
    "int32": writers.write_int32,
    "int64": writers.write_int64,
    "uint8": writers.write_uint8,
    "uint16": writers.write_uint16,
    "uint32": writers.write_uint32,
    "uint64": writers.write_uint64,
    "float64": writers.write_float64,
    "bool": writers.write_boolean,
    "uuid": writers.write_uuid,
    "error_code": writers.write_int16,
    "timedelta_i32": writers.write_int32,
    "timedelta_i64": writers.write_int64,
    "datetime_i64": writers.write_int64,
}
_FLEXIBLE: Mapping[str, Writer[Any]] = dict.fromkeys(
    ("string", "bytes", "records"), writers.write_nullable_compact_string
)
_LEGACY: Mapping[str, Writer[Any]] = {
    "string": writers.write_nullable_legacy_string,
    "bytes": writers.write_nullable_legacy_bytes,
    "records": writers.write_nullable_legacy_bytes,
}


def write_entity(buffer: io.BytesIO, entity: Entity) -> None:
    """The entity's bytes; tagged fields (KIP-482) only where they are not at their default."""
    flexible = entity.__flexible__
    tagged: list[tuple[FieldShape, object]] = []
    for shape in field_shapes(type(entity)):
        value = getattr(entity, shape.name)
        if shape.tag is None:
            _write_field(buffer, shape, flexible, value)
        elif value != shape.default:
            tagged.append((shape, value))
    if flexible:
        _write_tagged(buffer, tagged)


def _write_field(buffer: io.BytesIO, shape: FieldShape, flexible: bool, value: object) -> None:
    if not shape.array:
        _write_single(buffer, shape, flexible, value)
        return
    items = cast("Sequence[object] | None", value)
    if flexible:
        writers.write_compact_array_length(buffer, None if items is None else len(items))
    else:
        writers.write_int32(buffer, cast(Any, -1 if items is None else len(items)))
    for item in items or ():
        _write_element(buffer, shape, flexible, item)


def _write_element(buffer: io.BytesIO, shape: FieldShape, flexible: bool, value: object) -> None:
    if shape.entity is not None:
        write_entity(buffer, cast(Entity, value))
    else:
        kind = cast(str, shape.kind)
        (_FIXED.get(kind) or (_FLEXIBLE if flexible else _LEGACY)[kind])(buffer, value)


def _write_single(buffer: io.BytesIO, shape: FieldShape, flexible: bool, value: object) -> None:
    if shape.entity is not None and shape.nullable:
        writers.write_int8(buffer, cast(Any, -1 if value is None else 1))
        if value is None:
            return
    _write_element(buffer, shape, flexible, value)


def _write_tagged(buffer: io.BytesIO, tagged: Sequence[tuple[FieldShape, object]]) -> None:
    writers.write_unsigned_varint(buffer, cast(Any, len(tagged)))
    for shape, value in sorted(tagged, key=lambda pair: cast(int, pair[0].tag)):
        with io.BytesIO() as own:
            _write_field(own, shape, True, value)
            writers.write_unsigned_varint(buffer, cast(Any, shape.tag))
            writers.write_unsigned_varint(buffer, cast(Any, own.tell()))
            buffer.write(own.getvalue())
