"""Record batches, message format v2 (Kafka's ``DefaultRecordBatch``, KIP-98), written and read whole.

Not by kio, because it refuses or loses what the judge needs: any producer id, epoch, sequence, timestamp and attribute
bit in what is sent, full milliseconds, compressed batches, a log cut off in its last batch.
"""

import gzip
import io
import struct
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from crc32c import crc32c
from kio.serial.errors import SerialError
from kio.serial.readers import read_signed_varint, read_signed_varlong
from kio.serial.writers import write_signed_varint

from harness.evidence.requirement_evidence import Batch, Marker
from harness.wire.wire_errors import UnreadableRecords

TRANSACTIONAL = 0x10
CONTROL = 0x20
_HEADER = struct.Struct(">qiibIhiqqqhii")
_CHECKED = struct.Struct(">hiqqqhii")  # the header after its checksum
_BEFORE_LENGTH = 12  # base offset and length, which the length does not count
_BEFORE_CHECKED = 21  # the checksum covers what follows itself
_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
Compression: TypeAlias = Literal["none", "gzip"]
"""How batches of ours may be compressed: with what the standard library has."""
GZIP_LEVEL = 1
"""The quickest: a batch is small, and the level changes nothing that a broker looks at."""
_MARKERS: tuple[Marker, ...] = ("ABORT", "COMMIT")  # Kafka's ControlRecordType 0 and 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBatch:
    """A batch to send; every field of its header can be chosen.

    :param values: One record each, as text; bytes that are none by :func:`escaped`.
    :param keys: One key a record, or none at all.
    :param compression: Of the records; its bits stand in the attributes, unless those are given.
    :param timestamp_ms: Create time of every record in milliseconds since 1970; None is now.
    :param attributes: All attribute bits instead of those that ``transactional`` gives.
    """

    values: tuple[str, ...]
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    transactional: bool = True
    timestamp_ms: int | None = None
    attributes: int | None = None
    keys: tuple[str | None, ...] | None = None
    partition_leader_epoch: int = -1
    compression: Compression = "none"

    def encode(self) -> bytes:
        """The batch as Produce carries it, base offset 0."""
        timestamp = round(time.time() * 1000) if self.timestamp_ms is None else self.timestamp_ms
        checked = _CHECKED.pack(
            self._attributes(), len(self.values) - 1, timestamp, timestamp,
            self.producer_id, self.producer_epoch, self.base_sequence, len(self.values),
        ) + self._compressed(self._records())  # fmt: skip
        before = struct.pack(">iBI", self.partition_leader_epoch, 2, crc32c(checked))
        return struct.pack(">qi", 0, len(before) + len(checked)) + before + checked

    def _attributes(self) -> int:
        if self.attributes is not None:
            return self.attributes
        return _CODECS.index(self.compression) | (TRANSACTIONAL if self.transactional else 0)

    def _compressed(self, records: bytes) -> bytes:
        return gzip.compress(records, GZIP_LEVEL, mtime=0) if self.compression == "gzip" else records

    def _records(self) -> bytes:
        keys = self.keys or (None,) * len(self.values)
        pairs = zip(keys, self.values, strict=True)
        return b"".join(_record(delta, key, value) for delta, (key, value) in enumerate(pairs))


def _record(delta: int, key: str | None, value: str) -> bytes:
    """A record without headers, of the batch's own time."""
    octets = _octets(value)
    before = _BEFORE_RECORD + _varint_of(delta) + (_NULL if key is None else _with_length(_octets(key)))
    length = len(before) + len(octets) + 1
    size = _varint_of(len(octets))
    return b"".join((_varint_of(length + len(size)), before, size, octets, _NO_HEADERS))


def _signed_varint(value: int) -> bytes:
    """Zigzag, seven bits a byte, the lowest first (Kafka's ``ByteUtils.writeVarint``)."""
    with io.BytesIO() as octets:
        write_signed_varint(octets, value)
        return octets.getvalue()


_BEFORE_RECORD = b"\0" + _signed_varint(0)
"""Attributes of a record, of which none are in use, and its timestamp delta."""
_NULL, _NO_HEADERS = _signed_varint(-1), _signed_varint(0)
_SMALL = tuple(_signed_varint(value) for value in range(1 << 10))


def _varint_of(value: int) -> bytes:
    return _SMALL[value] if 0 <= value < len(_SMALL) else _signed_varint(value)


def _with_length(octets: bytes) -> bytes:
    return _varint_of(len(octets)) + octets


def escaped(octets: bytes) -> str:
    """Any bytes as a key or value of a :class:`NewBatch`, which sends just these bytes again."""
    return octets.decode("utf-8", "surrogateescape")


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record of the log; ``timestamp_ms`` is milliseconds since 1970."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBatch:
    """A batch of the log, header and records, as the broker keeps it."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    attributes: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: tuple[Record, ...]

    @property
    def is_control(self) -> bool:
        """Whether the batch is the broker's own (a marker, a leader change), never shown to a consumer."""
        return bool(self.attributes & CONTROL)

    @property
    def transactional(self) -> bool:
        """Whether the batch belongs to a transaction; markers do."""
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def control(self) -> Marker | None:
        """ABORT or COMMIT; None for any other batch."""
        return self.marker[0] if self.marker else None

    @property
    def marker(self) -> tuple[Marker, int] | None:
        """ABORT or COMMIT with the coordinator's epoch (Kafka's ``EndTransactionMarker``); None for any other batch."""
        if not self.is_control or not self.records:
            return None
        key, value = self.records[0].key or b"", self.records[0].value or b""
        if len(key) < 4 or len(value) < 6:
            return None
        kind = struct.unpack_from(">hh", key)[1]
        return (_MARKERS[kind], struct.unpack_from(">hi", value)[1]) if kind in (0, 1) else None

    def as_evidence(self) -> Batch:
        """The batch as evidence. Values are text; bytes that are no UTF-8 are escaped, a null value is empty."""
        control, coordinator_epoch = self.marker or (None, None)
        return Batch(
            base_offset=self.base_offset,
            last_offset=self.last_offset,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=self.base_sequence,
            transactional=self.transactional,
            control=control,
            coordinator_epoch=coordinator_epoch,
            values=() if self.is_control else tuple(text(record.value) for record in self.records),
        )


def text(octets: bytes | None) -> str:
    """Bytes of a record as text: UTF-8, what is none escaped as ``\\xff``; null is empty."""
    return (octets or b"").decode("utf-8", "backslashreplace")


def read_log(log: bytes) -> tuple[LogBatch, ...]:
    """The batches of a log, as Fetch carries it. A last batch that is cut off (the fetch was full) is left out.

    :raises UnreadableRecords: For a batch of another format, with a wrong checksum, or compressed other than by gzip.
    """
    return tuple(_read_batch(octets) for octets in _split(log))


def _split(log: bytes) -> Iterator[bytes]:
    offset = 0
    while len(log) - offset >= _HEADER.size:
        _, length = struct.unpack_from(">qi", log, offset)
        end = offset + _BEFORE_LENGTH + length
        if length < _HEADER.size - _BEFORE_LENGTH:
            raise UnreadableRecords(f"a record batch has a length of {length} bytes")
        if end > len(log):
            return
        yield log[offset:end]
        offset = end


def _read_batch(octets: bytes) -> LogBatch:
    (
        base_offset, _, leader_epoch, magic, checksum, attributes, last_delta, base_timestamp, max_timestamp,
        producer_id, producer_epoch, base_sequence, count,
    ) = _HEADER.unpack_from(octets)  # fmt: skip
    _verify(octets, magic, checksum, base_offset)
    records = _read_records(_uncompressed(octets[_HEADER.size :], attributes), base_offset, base_timestamp, count)
    return LogBatch(
        base_offset=base_offset,
        last_offset=base_offset + last_delta,
        leader_epoch=leader_epoch,
        attributes=attributes,
        base_timestamp_ms=base_timestamp,
        max_timestamp_ms=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        records=records,
    )


def _verify(octets: bytes, magic: int, checksum: int, base_offset: int) -> None:
    if magic != 2:
        raise UnreadableRecords(f"the batch at offset {base_offset} has message format {magic}; only 2 is read")
    if crc32c(octets[_BEFORE_CHECKED:]) != checksum:
        raise UnreadableRecords(f"the batch at offset {base_offset} has a wrong checksum")


def _uncompressed(octets: bytes, attributes: int) -> bytes:
    codec = attributes & 0x07
    try:
        match codec:
            case 0:
                return octets
            case 1:
                return gzip.decompress(octets)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableRecords(f"a gzip batch cannot be uncompressed: {error}") from error
    name = _CODECS[codec] if codec < len(_CODECS) else f"codec {codec}"
    raise UnreadableRecords(f"a batch is compressed with {name}; only uncompressed and gzip batches are read")


def _read_records(octets: bytes, base_offset: int, base_timestamp: int, count: int) -> tuple[Record, ...]:
    records = []
    offset = 0
    try:
        for _ in range(count):
            size, offset = _varint(octets, offset)
            records.append(_read_record(octets[offset : offset + size], base_offset, base_timestamp))
            offset += size
    except SerialError as error:
        raise UnreadableRecords(f"the batch at offset {base_offset} ends within a record: {error}") from error
    return tuple(records)


def _read_record(octets: bytes, base_offset: int, base_timestamp: int) -> Record:
    timestamp_delta, size = read_signed_varlong(octets, 1)  # after the record's attribute byte
    offset_delta, offset = _varint(octets, 1 + size)
    key, offset = _read_octets(octets, offset)
    value, offset = _read_octets(octets, offset)
    return Record(
        offset=base_offset + offset_delta,
        timestamp_ms=base_timestamp + timestamp_delta,
        key=key,
        value=value,
    )


def _read_octets(octets: bytes, offset: int) -> tuple[bytes | None, int]:
    size, offset = _varint(octets, offset)
    return (None, offset) if size < 0 else (octets[offset : offset + size], offset + size)


def _varint(octets: bytes, offset: int) -> tuple[int, int]:
    value, size = read_signed_varint(octets, offset)
    return value, offset + size
