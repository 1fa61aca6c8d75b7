"""Messages from bytes, by kio's schemas but more lenient than kio's own reader.

kio refuses an error code that it does not list, a time of -1 (DescribeTransactions of an id with nothing open) and a
null where its schema has none; the whole answer would be lost, and it may be the very evidence. So errors are read as
integers, times and durations as integers in milliseconds, and any string or array may be null. A schema's readers are
put together once: a crowd of producers reads a thousand answers a second.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, cast

from kio.serial import readers
from kio.serial.readers import Reader
from kio.static.protocol import Entity

from harness.wire.codec.entity_schema import FieldShape, field_shapes

Read: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
"""What begins at an offset of the bytes, and its size."""

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
    entity, size = _entity_reader(schema)(data, offset)
    return cast(Entity, entity), offset + size


@cache
def _entity_reader(schema: type[Entity]) -> Read:
    flexible, construct = schema.__flexible__, cast(Any, schema)
    shapes = field_shapes(schema)
    fields = [(shape.name, _field_reader(shape, flexible)) for shape in shapes if shape.tag is None]
    tagged = {shape.tag: (shape.name, _field_reader(shape, True)) for shape in shapes if shape.tag is not None}

    def read(data: bytes, begins: int) -> tuple[object, int]:
        values: dict[str, object] = {}
        offset = begins
        for name, read_field in fields:
            values[name], size = read_field(data, offset)
            offset += size
        if flexible:
            if data[offset : offset + 1] == b"\0":  # as a rule there are none
                offset += 1
            else:
                offset = _read_tagged(tagged, data, offset, values)
        return construct(**values), offset - begins

    return read


def _read_tagged(tagged: Mapping[int, tuple[str, Read]], data: bytes, offset: int, values: dict[str, object]) -> int:
    begins, end = read_tags(data, offset)
    for tag, (name, read_field) in tagged.items():
        if tag in begins:
            values[name], _ = read_field(data, begins[tag])
    return end


def _field_reader(shape: FieldShape, flexible: bool) -> Read:
    read = _element_reader(shape, flexible)
    if shape.array:
        return _array_reader(read, flexible)
    return _nullable_reader(read) if shape.entity is not None and shape.nullable else read


def _element_reader(shape: FieldShape, flexible: bool) -> Read:
    if shape.entity is not None:
        return _entity_reader(shape.entity)
    kind = cast(str, shape.kind)
    return _FIXED.get(kind) or (_FLEXIBLE if flexible else _LEGACY)[kind]


def _array_reader(read: Read, flexible: bool) -> Read:
    read_length = readers.read_compact_array_length if flexible else readers.read_legacy_array_length

    def read_array(data: bytes, begins: int) -> tuple[tuple[object, ...] | None, int]:
        length, size = read_length(data, begins)
        if length is None or length < 0:
            return None, size
        items, offset = [], begins + size
        for _ in range(length):
            item, size = read(data, offset)
            items.append(item)
            offset += size
        return tuple(items), offset - begins

    return read_array


def _nullable_reader(read: Read) -> Read:
    """A nullable struct has a byte before it (KIP-893)."""

    def read_nullable(data: bytes, begins: int) -> tuple[object, int]:
        present, before = readers.read_int8(data, begins)
        if present < 0:
            return None, before
        entity, size = read(data, begins + before)
        return entity, before + size

    return read_nullable


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
