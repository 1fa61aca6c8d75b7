"""Record batches (message format v2) changed in place: identity, sequence, the kind of a marker; checksums made anew.

For what tells lies between a broker and a client. What is not changed stays byte for byte.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from crc32c import crc32c
from kio.serial.readers import read_signed_varint, read_signed_varlong

from harness.wire.records.record_batch import CONTROL, TRANSACTIONAL

_CRC, _CHECKED, _ATTRIBUTES, _IDENTITY, _COUNT, _RECORDS = 17, 21, 21, 43, 57, 61
_WHO = struct.Struct(">qhi")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who wrote a batch: producer id, epoch and base sequence; ``count`` records, ``last`` is the last one's offset."""

    producer_id: int
    epoch: int
    sequence: int
    count: int
    transactional: bool
    control: bool
    last: int


def identities(log: bytes) -> tuple[Identity, ...]:
    """Who wrote each batch of a log; a last batch that is cut off is left out."""
    found: list[Identity] = []
    _each(log, lambda batch: found.append(_identity(batch)) or batch)  # type: ignore[func-returns-value]
    return tuple(found)


def with_identity(log: bytes, producer_id: int, epoch: int, sequence: Callable[[Identity], int]) -> bytes:
    """Every batch as if another producer had written it, from the sequence that is told for it."""

    def another(batch: bytes) -> bytes:
        said = _WHO.pack(producer_id, epoch, sequence(_identity(batch)))
        return _sealed(batch[:_IDENTITY] + said + batch[_COUNT:])

    return _each(log, another)


def with_checksums(log: bytes) -> bytes:
    """Every batch with the checksum of what it holds."""
    return _each(log, _sealed)


def with_markers_swapped(log: bytes) -> tuple[bytes, int]:
    """COMMIT for ABORT and the reverse, and how many were swapped (Kafka's ``ControlRecordType`` in the key)."""
    swapped = 0

    def turned(batch: bytes) -> bytes:
        nonlocal swapped
        place = _marker_type(batch)
        if place is None:
            return batch
        swapped += 1
        return _sealed(batch[: place + 1] + bytes([1 - batch[place + 1]]) + batch[place + 2 :])

    return _each(log, turned), swapped


def _each(log: bytes, change: Callable[[bytes], bytes]) -> bytes:
    made, offset = [], 0
    while len(log) - offset >= _RECORDS:
        end = offset + 12 + int(struct.unpack_from(">i", log, offset + 8)[0])
        if end > len(log) or end <= offset + _RECORDS - 1:
            break
        made.append(change(log[offset:end]))
        offset = end
    return b"".join([*made, log[offset:]])


def _identity(batch: bytes) -> Identity:
    producer_id, epoch, sequence = _WHO.unpack_from(batch, _IDENTITY)
    (attributes,) = struct.unpack_from(">h", batch, _ATTRIBUTES)
    base, delta = struct.unpack_from(">q", batch)[0], struct.unpack_from(">i", batch, _ATTRIBUTES + 2)[0]
    return Identity(
        producer_id=producer_id,
        epoch=epoch,
        sequence=sequence,
        count=struct.unpack_from(">i", batch, _COUNT)[0],
        transactional=bool(attributes & TRANSACTIONAL),
        control=bool(attributes & CONTROL),
        last=base + delta,
    )


def _marker_type(batch: bytes) -> int | None:
    """Where the two bytes of a marker's type begin, or None where the batch is no end of a transaction."""
    if not _identity(batch).control:
        return None
    _, offset = read_signed_varint(batch, _RECORDS)
    offset += _RECORDS + 1
    _, size = read_signed_varlong(batch, offset)
    offset += size
    _, size = read_signed_varint(batch, offset)
    offset += size
    length, size = read_signed_varint(batch, offset)
    kind = struct.unpack_from(">h", batch, offset + size + 2)[0] if length >= 4 else -1
    return offset + size + 2 if kind in (0, 1) else None


def _sealed(batch: bytes) -> bytes:
    return batch[:_CRC] + struct.pack(">I", crc32c(batch[_CHECKED:])) + batch[_CHECKED:]
