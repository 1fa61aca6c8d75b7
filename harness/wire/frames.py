"""Frames: a four-byte length, a header, a message. kio's schemas give each message its header."""

import struct
from typing import cast

from kio.serial.errors import SerialError
from kio.static.protocol import RequestPayload, ResponsePayload

from harness.base.kafka_error import KafkaError
from harness.wire.api_names import name_of
from harness.wire.codec.entity_decoder import read_entity
from harness.wire.codec.entity_encoder import entity_bytes
from harness.wire.codec.entity_schema import response_schema
from harness.wire.wire_errors import UnreadableAnswer

API_VERSIONS = 18
_API_VERSION_AT = 6  # after the length and the API's key
_REQUEST = struct.Struct(">hhih")  # API, version, correlation id, length of the client id
_ERROR = struct.Struct(">ih")  # correlation id and error code
_NO_APIS = struct.pack(">i", 0)


def encode(request: RequestPayload, correlation: int, client_id: str) -> bytes:
    """The whole frame of a request, length included.

    The client id keeps its old form also in flexible versions (Kafka's ``RequestHeader.json``); tagged fields follow.
    """
    client = client_id.encode()
    fixed = _REQUEST.pack(request.__api_key__, request.__version__, correlation, len(client))
    tags = b"\0" if request.__header_schema__.__flexible__ else b""
    message = b"".join((fixed, client, tags, entity_bytes(request)))
    return struct.pack(">i", len(message)) + message


def with_version(frame: bytes, version: int) -> bytes:
    """The frame of a request under the number of another version."""
    before = _API_VERSION_AT + struct.calcsize(">h")
    return frame[:_API_VERSION_AT] + struct.pack(">h", version) + frame[before:]


def decode(key: int, version: int, frame: bytes) -> ResponsePayload:
    """The answer to the API ``key`` at ``version``; ``frame`` begins with the header, without the length.

    A broker that does not know our ApiVersions version answers so in version 0, whose layout is known to all (KIP-511);
    of an answer in another layout (librdkafka's mock) the error alone is read.

    :raises UnreadableAnswer: When the bytes are no such answer.
    """
    if not _refuses_version(key, frame):
        return _decode(key, version, frame)
    try:
        return _decode(key, 0, frame)
    except UnreadableAnswer:
        return _decode(key, 0, frame[: _ERROR.size] + _NO_APIS)


def _refuses_version(key: int, frame: bytes) -> bool:
    return (
        key == API_VERSIONS
        and len(frame) >= _ERROR.size
        and _ERROR.unpack_from(frame)[1] == KafkaError.UNSUPPORTED_VERSION
    )


def _decode(key: int, version: int, frame: bytes) -> ResponsePayload:
    schema = response_schema(key, version)
    try:
        _, offset = read_entity(schema.__header_schema__, frame)
        response, end = read_entity(schema, frame, offset)
    except SerialError as error:
        raise UnreadableAnswer(
            f"{name_of(key)} v{version} was answered with bytes that end too early: {error}"
        ) from error
    if end != len(frame):
        raise UnreadableAnswer(f"{name_of(key)} v{version} was answered with {len(frame) - end} bytes too many")
    return cast(ResponsePayload, response)
