"""Messages that a proxy passes on: a frame's header and body decoded, changed, and encoded again.

Frames are without their four-byte length. The header is the same in every version (Kafka's ``RequestHeader``: the
client id keeps its old form also in flexible versions), so it is read without a schema; a body is decoded on demand.
"""

import dataclasses
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, cast

from kio.index import UnknownAPIKey, UnknownEntity
from kio.serial.errors import SerialError
from kio.static.protocol import Entity

from harness.wire.api_names import name_of
from harness.wire.codec.entity_decoder import read_entity, read_tags
from harness.wire.codec.entity_encoder import entity_bytes
from harness.wire.codec.entity_schema import FieldShape, field_shapes, request_schema, response_schema
from harness.wire.frames import decode
from harness.wire.wire_errors import UnreadableAnswer, WireError

T = TypeVar("T")
_FIXED = struct.Struct(">hhih")
UNREADABLE = (SerialError, UnknownAPIKey, UnknownEntity, ValueError, struct.error, IndexError)
SHORTEST = 8
"""Bytes of a request without a client id; a shorter frame is no request."""


class UnreadableRequest(WireError):
    """Bytes that are no request of a known API and version."""


@dataclass(frozen=True, slots=True)
class RequestHeader:
    """The header of a request; ``ends`` is where its client id ends in the frame."""

    key: int
    version: int
    correlation: int
    client_id: str
    ends: int

    @property
    def api(self) -> str:
        return name_of(self.key)


def request_header(frame: bytes) -> RequestHeader:
    """The header of a request; :raises UnreadableRequest: when the frame is too short for one."""
    try:
        key, version, correlation, length = _FIXED.unpack_from(frame)
    except struct.error as error:
        raise UnreadableRequest(f"a request of {len(frame)} bytes has no header") from error
    ends = _FIXED.size + max(length, 0)
    client = frame[_FIXED.size : ends].decode("utf-8", "backslashreplace")
    return RequestHeader(key, version, correlation, client, ends)


def renumbered(frame: bytes, correlation: int) -> bytes:
    """The same request with another correlation id."""
    return frame[:4] + struct.pack(">i", correlation) + frame[8:]


def read_request(frame: bytes, head: RequestHeader) -> object:
    """The request's body; :raises UnreadableRequest: when its API or version is unknown."""
    return _opened(frame, head)[0]


def request_with_body(frame: bytes, head: RequestHeader, body: object) -> bytes:
    """The request with another body under its own header."""
    return frame[: _opened(frame, head)[1]] + _written(body)


def read_response(head: RequestHeader, frame: bytes) -> object:
    """The body of the answer to a request; :raises UnreadableAnswer: when it is none, or of an unknown version."""
    try:
        return decode(head.key, head.version, frame)
    except UNREADABLE as error:
        raise UnreadableAnswer(f"an answer to {head.api} v{head.version} cannot be read: {error}") from error


def write_response(head: RequestHeader, body: object) -> bytes:
    """An answer to that request as a frame, with no tagged fields in its header."""
    header = response_schema(head.key, head.version).__header_schema__
    return struct.pack(">i", head.correlation) + (b"\0" if header.__flexible__ else b"") + _written(body)


def make_response(head: RequestHeader, **fields: object) -> object:
    """A body of the answer's schema; fields that the version lacks are left out, arrays not given are empty."""
    return forged(response_schema(head.key, head.version), **fields)


def forged(schema: type[Entity], **fields: object) -> object:
    """An entity of a schema from Python values; nested ones are mappings, in tuples where the schema has arrays."""
    values: dict[str, object] = {}
    for shape in field_shapes(schema):
        if shape.name in fields:
            values[shape.name] = _nested(shape.entity, fields[shape.name])
        elif shape.required or shape.kind == "datetime_i64":
            values[shape.name] = _empty(shape)
        elif isinstance(shape.default, timedelta):
            values[shape.name] = round(shape.default / timedelta(milliseconds=1))
    return cast(Any, schema)(**values)


def changed(entity: T, **fields: object) -> T:
    """The same message with other fields; :raises TypeError: for a field that its version lacks."""
    return cast(T, dataclasses.replace(cast(Any, entity), **fields))


def errors_in(entity: object) -> Iterator[int]:
    """Every error code of an answer, outer ones first."""
    for shape in field_shapes(cast(type[Entity], type(entity))):
        value = getattr(entity, shape.name)
        if shape.kind == "error_code":
            yield value
        elif shape.entity is not None and value is not None:
            for part in value if shape.array else (value,):
                yield from errors_in(part)


def _empty(shape: FieldShape) -> object:
    if shape.array:
        return ()
    if shape.kind == "datetime_i64":
        return -1
    return None if shape.nullable else 0


def _nested(entity: type[Entity] | None, value: object) -> object:
    if entity is None or value is None:
        return value
    if isinstance(value, tuple):
        return tuple(forged(entity, **part) for part in value)
    return forged(entity, **cast("dict[str, object]", value))


def _opened(frame: bytes, head: RequestHeader) -> tuple[object, int]:
    try:
        schema = request_schema(head.key, head.version)
        begins = read_tags(frame, head.ends)[1] if schema.__header_schema__.__flexible__ else head.ends
        body, end = read_entity(schema, frame, begins)
    except UNREADABLE as error:
        raise UnreadableRequest(f"{head.api} v{head.version} cannot be read: {error}") from error
    if end != len(frame):
        raise UnreadableRequest(f"{head.api} v{head.version} has {len(frame) - end} bytes too many")
    return body, begins


def _written(body: object) -> bytes:
    return entity_bytes(cast(Entity, body))
