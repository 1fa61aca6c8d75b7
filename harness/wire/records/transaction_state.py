"""Records of ``__transaction_state``: what a coordinator keeps of a transactional id.

Layouts from Kafka's ``TransactionLogKey.json`` (v0) and ``TransactionLogValue.json`` (v0; v1 since KIP-890 part 2, with
tagged fields), state numbers from ``TransactionState``. kio has no schemas for them.
"""

import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from kio.serial import readers
from kio.serial.errors import SerialError

from harness.wire.codec.entity_decoder import read_tags
from harness.wire.records.record_batch import Record
from harness.wire.topic_partitions import partition_name
from harness.wire.wire_errors import UnreadableRecords

TOPIC = "__transaction_state"
_STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
_TAG_NAMES = {
    0: "previous_producer_id",
    1: "next_producer_id",
    2: "client_transaction_version",
    3: "next_producer_epoch",
}
_SHORT_TAGS = (2, 3)  # int16; the others are int64
_HEAD = struct.Struct(">qhib")  # producer id, epoch, timeout, state


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionState:
    """One record. Times are milliseconds since 1970, -1 for none; ids and epochs that are not set are -1.

    :param version: Of the value's layout: 0, or 1 with the tagged fields. -1 for a tombstone (``state`` is then Gone).
    :param state: Kafka's name of it: ``Ongoing``, ``PrepareCommit``, ``CompleteAbort``.
    :param partitions: In the transaction, by name (``t-0``).
    :param previous_producer_id: The producer id of the last completed transaction (tag 0).
    :param next_producer_id: The producer id that the client gets next, when the epoch ran out (tag 1).
    :param client_transaction_version: The transaction version that the client uses (tag 2).
    :param next_producer_epoch: The epoch that the client gets next (tag 3, Kafka 4.2 and above).
    """

    transactional_id: str
    offset: int
    version: int
    state: str
    producer_id: int = -1
    producer_epoch: int = -1
    timeout_ms: int = -1
    partitions: list[str] = field(default_factory=list)
    last_update_ms: int = -1
    start_ms: int = -1
    previous_producer_id: int = -1
    next_producer_id: int = -1
    client_transaction_version: int = 0
    next_producer_epoch: int = -1


@dataclass(frozen=True, slots=True)
class NewState:
    """A record to append: an id in the state ``Empty``.

    :param tags: Tagged fields, in order of their numbers; with any the layout is that of version 1, else of version 0,
        which every release reads.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    tags: tuple[tuple[int, bytes], ...] = ()

    @property
    def key(self) -> bytes:
        name = self.transactional_id.encode()
        return struct.pack(">hh", 0, len(name)) + name

    @property
    def value(self) -> bytes:
        """No partitions, written now, never begun."""
        head = _HEAD.pack(self.producer_id, self.producer_epoch, self.timeout_ms, _STATES.index("Empty"))
        times = struct.pack(">qq", round(time.time() * 1000), -1)
        if not self.tags:
            return struct.pack(">h", 0) + head + struct.pack(">i", -1) + times
        tagged = b"".join(bytes((number, len(octets))) + octets for number, octets in self.tags)
        return struct.pack(">h", 1) + head + b"\0" + times + bytes((len(self.tags),)) + tagged


def state_partition(transactional_id: str, partitions: int) -> int:
    """The partition of the topic that keeps the id (``TransactionStateManager.partitionFor``: Java's string hash)."""
    hashed = 0
    for unit in struct.unpack(
        f">{len(transactional_id.encode('utf-16-be')) // 2}H", transactional_id.encode("utf-16-be")
    ):
        hashed = (31 * hashed + unit) & 0xFFFFFFFF
    signed = hashed - (1 << 32) if hashed >= 1 << 31 else hashed
    return (0 if signed == -(1 << 31) else abs(signed)) % partitions


def decode_state(record: Record) -> TransactionState:
    """One record of the topic, decoded.

    :raises UnreadableRecords: When key or value has a layout that is not known here.
    """
    try:
        transactional_id = _read_key(record.key or b"")
        if record.value is None:
            return TransactionState(transactional_id=transactional_id, offset=record.offset, version=-1, state="Gone")
        return _read_value(transactional_id, record.offset, record.value)
    except SerialError as error:
        raise UnreadableRecords(f"the transaction state at offset {record.offset} ends too early: {error}") from error


def _read_key(key: bytes) -> str:
    version, size = readers.read_int16(key, 0)
    if version != 0:
        raise UnreadableRecords(f"a transaction state key has version {version}; only 0 is known")
    return readers.read_legacy_string(key, size)[0]


def _read_value(transactional_id: str, offset: int, value: bytes) -> TransactionState:
    version, at = readers.read_int16(value, 0)
    if version not in (0, 1):
        raise UnreadableRecords(f"a transaction state has version {version}; only 0 and 1 are known")
    producer_id, producer_epoch, timeout_ms, state = _HEAD.unpack_from(value.ljust(at + _HEAD.size, b"\0"), at)
    partitions, at = _read_partitions(value, at + _HEAD.size, flexible=version == 1)
    last_update_ms, size = readers.read_int64(value, at)
    start_ms, start_size = readers.read_int64(value, at + size)
    tagged = _read_tags(value, at + size + start_size) if version == 1 else {}
    return TransactionState(
        transactional_id=transactional_id,
        offset=offset,
        version=version,
        state=_STATES[state] if 0 <= state < len(_STATES) else f"Unknown({state})",
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        timeout_ms=timeout_ms,
        partitions=partitions,
        last_update_ms=last_update_ms,
        start_ms=start_ms,
        **tagged,
    )


def _read_partitions(value: bytes, at: int, *, flexible: bool) -> tuple[list[str], int]:
    read_length = readers.read_compact_array_length if flexible else readers.read_legacy_array_length
    read_name = readers.read_compact_string if flexible else readers.read_legacy_string
    names: list[str] = []
    topics, size = read_length(value, at)
    at += size
    for _ in range(topics or 0):
        topic, size = read_name(value, at)
        count, count_size = read_length(value, at + size)
        at += size + count_size
        names += [partition_name(topic, readers.read_int32(value, at + 4 * index)[0]) for index in range(count or 0)]
        at += 4 * (count or 0)
        at = read_tags(value, at)[1] if flexible else at
    return names, at


def _read_tags(value: bytes, at: int) -> Mapping[str, int]:
    known = {tag: begin for tag, begin in read_tags(value, at)[0].items() if tag in _TAG_NAMES}
    kinds = {tag: readers.read_int16 if tag in _SHORT_TAGS else readers.read_int64 for tag in known}
    return {_TAG_NAMES[tag]: kinds[tag](value, begin)[0] for tag, begin in known.items()}
