"""Messages to bytes: the inverse of :mod:`harness.wire.codec.entity_decoder`, with the same integers.

kio's own writer wants its own types (an error code that it lists, a duration, a time); what was read leniently has
integers, and is written back as it was, apart from fields that were changed on purpose. Durations may be either.
A schema's writers are put together once: a crowd of producers sends a thousand messages a second.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any, TypeAlias, cast
from uuid import UUID

from kio.static.protocol import Entity

from harness.wire.codec.entity_schema import FieldShape, field_shapes

Put: TypeAlias = Callable[[bytes], None]
"""Takes the next bytes of the message."""
Write: TypeAlias = Callable[[Put, Any], None]

_NO_ID = bytes(16)
_INT16, _INT32 = struct.Struct(">h"), struct.Struct(">i")
_MILLISECOND = timedelta(milliseconds=1)
_FORMATS: Mapping[str, str] = {
    "int8": ">b",
    "int16": ">h",
    "int32": ">i",
    "int64": ">q",
    "uint8": ">B",
    "uint16": ">H",
    "uint32": ">I",
    "uint64": ">Q",
    "float64": ">d",
    "bool": ">?",
    "error_code": ">h",
    "datetime_i64": ">q",
}
_DURATIONS: Mapping[str, str] = {"timedelta_i32": ">i", "timedelta_i64": ">q"}


def entity_bytes(entity: Entity) -> bytes:
    """The entity's bytes; tagged fields (KIP-482) only where they are not at their default."""
    parts: list[bytes] = []
    _entity_writer(type(entity))(parts.append, entity)
    return b"".join(parts)


def _varint(value: int) -> bytes:
    """An unsigned varint: seven bits a byte, the lowest first (Kafka's ``ByteUtils.writeUnsignedVarint``)."""
    octets = bytearray()
    while value > 0x7F:
        octets.append(0x80 | (value & 0x7F))
        value >>= 7
    octets.append(value)
    return bytes(octets)


_SMALL = [_varint(value) for value in range(1 << 14)]


def _length(value: int) -> bytes:
    return _SMALL[value] if value < len(_SMALL) else _varint(value)


@cache
def _entity_writer(schema: type[Entity]) -> Write:
    flexible = schema.__flexible__
    shapes = field_shapes(schema)
    fields = [(shape.name, _field_writer(shape, flexible)) for shape in shapes if shape.tag is None]
    in_order = sorted((shape for shape in shapes if shape.tag is not None), key=lambda shape: cast(int, shape.tag))
    tagged = [(shape, _field_writer(shape, True)) for shape in in_order]

    def write(put: Put, entity: Entity) -> None:
        for name, write_field in fields:
            write_field(put, getattr(entity, name))
        if tagged:
            _write_tagged(put, entity, tagged)
        elif flexible:
            put(b"\0")

    return write


def _write_tagged(put: Put, entity: Entity, tagged: Sequence[tuple[FieldShape, Write]]) -> None:
    given = [each for each in tagged if getattr(entity, each[0].name) != each[0].default]
    put(_length(len(given)))
    for shape, write in given:
        own: list[bytes] = []
        write(own.append, getattr(entity, shape.name))
        put(_length(cast(int, shape.tag)) + _length(sum(map(len, own))))
        for part in own:
            put(part)


def _field_writer(shape: FieldShape, flexible: bool) -> Write:
    write = _element_writer(shape, flexible)
    if shape.array:
        return _array_writer(write, flexible)
    return _nullable_writer(write) if shape.entity is not None and shape.nullable else write


def _element_writer(shape: FieldShape, flexible: bool) -> Write:
    if shape.entity is not None:
        return _entity_writer(shape.entity)
    kind = cast(str, shape.kind)
    if kind in _FORMATS:
        return _number_writer(_FORMATS[kind])
    if kind in _DURATIONS:
        return _duration_writer(_DURATIONS[kind])
    if kind == "uuid":
        return _write_uuid
    if flexible:
        return _write_compact
    return _write_string if kind == "string" else _write_bytes


def _array_writer(write: Write, flexible: bool) -> Write:
    def write_array(put: Put, items: Sequence[object] | None) -> None:
        count = -1 if items is None else len(items)
        put(_length(count + 1) if flexible else _INT32.pack(count))
        for item in items or ():
            write(put, item)

    return write_array


def _nullable_writer(write: Write) -> Write:
    """A nullable struct has a byte before it (KIP-893)."""

    def write_nullable(put: Put, value: object) -> None:
        put(b"\xff" if value is None else b"\1")
        if value is not None:
            write(put, value)

    return write_nullable


def _number_writer(form: str) -> Write:
    pack = struct.Struct(form).pack
    return lambda put, value: put(pack(value))


def _duration_writer(form: str) -> Write:
    pack = struct.Struct(form).pack
    return lambda put, value: put(pack(round(value / _MILLISECOND) if isinstance(value, timedelta) else value))


def _write_uuid(put: Put, value: UUID | None) -> None:
    put(_NO_ID if value is None else value.bytes)


def _write_compact(put: Put, value: str | bytes | None) -> None:
    """A string, bytes or records, of which null has the length 0."""
    octets = value.encode() if isinstance(value, str) else value
    put(_length(0 if octets is None else len(octets) + 1))
    if octets:
        put(octets)


def _write_string(put: Put, value: str | None) -> None:
    octets = None if value is None else value.encode()
    put(_INT16.pack(-1 if octets is None else len(octets)) + (octets or b""))


def _write_bytes(put: Put, value: bytes | None) -> None:
    put(_INT32.pack(-1 if value is None else len(value)) + (value or b""))
