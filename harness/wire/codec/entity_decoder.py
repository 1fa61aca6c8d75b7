"""Messages from bytes, by kio's schemas but more lenient than kio's own reader.

kio refuses an error code that it does not list, a time of -1 (DescribeTransactions of an id with nothing open) and a
null where its schema has none; the whole answer would be lost, and it may be the very evidence. So errors are read as
integers, times and durations as integers in milliseconds, and any string or array may be null.
"""

from collections.abc import Mapping
from typing import Any, cast

from kio.serial import readers
from kio.serial.readers import Reader
from kio.static.protocol import Entity

from harness.wire.codec.entity_schema import FieldShape, field_shapes

_FIXED: Mapping[str, Reader[object]] = {
    "int8": readers.read_int8,
    "int16": readers.read_int16,
    "int32": readers.read_int32,
    "int64": readers.read_int64,
    "uint8": readers.read_uint8,
    "uint16": readers.read_uint16,
    "uint32": readers.read_uint32,
    "uint64": readers.read_uint64,
    "float64": readers.read_float64,
    "bool": readers.read_boolean,
    "uuid": readers.read_uuid,
    "error_code": readers.read_int16,
    "timedelta_i32": readers.read_int32,
    "timedelta_i64": readers.read_int64,
    "datetime_i64": readers.read_int64,
}
_FLEXIBLE: Mapping[str, Reader[object]] = {
    "string": readers.read_compact_string_nullable,
    "bytes": readers.read_compact_string_as_bytes_nullable,
    "records": readers.read_compact_string_as_bytes_nullable,
}
_LEGACY: Mapping[str, Reader[object]] = {
    "string": readers.read_nullable_legacy_string,
    "bytes": readers.read_nullable_legacy_bytes,
    "records": readers.read_nullable_legacy_bytes,
}


def read_entity(schema: type[Entity], data: bytes, offset: int = 0) -> tuple[Entity, int]:
    """The entity that begins at ``offset``, and the offset after it.

    :raises kio.serial.errors.SerialError: When the bytes end too early or are no such entity.
    """
    values: dict[str, object] = {}
    for shape in field_shapes(schema):
        if shape.tag is None:
            values[shape.name], offset = _read_field(shape, schema.__flexible__, data, offset)
    if schema.__flexible__:
        tagged, offset = _read_tagged(schema, data, offset)
        values |= tagged
    return cast(Entity, cast(Any, schema)(**values)), offset


def _read_field(shape: FieldShape, flexible: bool, data: bytes, offset: int) -> tuple[object, int]:
    if not shape.array:
        return _read_single(shape, flexible, data, offset)
    read_length = readers.read_compact_array_length if flexible else readers.read_legacy_array_length
    length, size = read_length(data, offset)
    offset += size
    if length is None or length < 0:
        return None, offset
    items = []
    for _ in range(length):
        item, offset = _read_element(shape, flexible, data, offset)
        items.append(item)
    return tuple(items), offset


def _read_element(shape: FieldShape, flexible: bool, data: bytes, offset: int) -> tuple[object, int]:
    if shape.entity is not None:
        return read_entity(shape.entity, data, offset)
    return _read_primitive(cast(str, shape.kind), flexible, data, offset)


def _read_single(shape: FieldShape, flexible: bool, data: bytes, offset: int) -> tuple[object, int]:
    if shape.entity is not None and shape.nullable:
        present, size = readers.read_int8(data, offset)  # a nullable struct has a byte before it (KIP-893)
        return read_entity(shape.entity, data, offset + size) if present >= 0 else (None, offset + size)
    return _read_element(shape, flexible, data, offset)


def _read_primitive(kind: str, flexible: bool, data: bytes, offset: int) -> tuple[object, int]:
    read = _FIXED.get(kind) or (_FLEXIBLE if flexible else _LEGACY)[kind]
    value, size = read(data, offset)
    return value, offset + size


def read_tags(data: bytes, offset: int) -> tuple[Mapping[int, int], int]:
    """Tagged fields (KIP-482): where the bytes of each begin, by tag, and the offset after all of them."""
    begins: dict[int, int] = {}
    count, size = readers.read_unsigned_varint(data, offset)
    offset += size
    for _ in range(count):
        tag, size = readers.read_unsigned_varint(data, offset)
        length, length_size = readers.read_unsigned_varint(data, offset + size)
        begins[tag] = offset + size + length_size
        offset = begins[tag] + length
    return begins, offset


def _read_tagged(schema: type[Entity], data: bytes, offset: int) -> tuple[dict[str, object], int]:
    begins, offset = read_tags(data, offset)
    known = [shape for shape in field_shapes(schema) if shape.tag in begins]
    return {shape.name: _read_field(shape, True, data, begins[cast(int, shape.tag)])[0] for shape in known}, offset
