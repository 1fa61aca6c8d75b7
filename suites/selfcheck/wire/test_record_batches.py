"""Record batches: what is written is what is read, bit for bit where a judge looks."""

import gzip
import struct

import pytest
from crc32c import crc32c

from harness.evidence.requirement_evidence import Batch
from harness.wire.records.record_batch import NewBatch, read_log
from harness.wire.wire_errors import UnreadableRecords

LATE = 1_700_000_000_123
CHECKED = struct.Struct(">hiqqqhii")


def decode(log: bytes) -> tuple[Batch, ...]:
    """The batches of a log as evidence."""
    return tuple(batch.as_evidence() for batch in read_log(log))


def batch_of(
    records: bytes, *, attributes: int, count: int = 1, base_offset: int = 0, epoch: int = 3, magic: int = 2
) -> bytes:
    """A batch from handmade records, producer id 7."""
    checked = CHECKED.pack(attributes, count - 1, LATE, LATE, 7, epoch, -1, count) + records
    tail = struct.pack(">iBI", 0, magic, crc32c(checked)) + checked
    return struct.pack(">qi", base_offset, len(tail)) + tail


def record_of(key: bytes, value: bytes) -> bytes:
    """A record with offset delta 0; every length here fits one zigzag byte."""
    body = b"\0\0\0" + bytes([2 * len(key)]) + key + bytes([2 * len(value)]) + value + b"\0"
    return bytes([2 * len(body)]) + body


def marker_of(kind: int, *, coordinator_epoch: int = 5, base_offset: int = 0) -> bytes:
    """A control batch as a broker writes it: ``EndTransactionMarker`` v0 under ``ControlRecordType`` kind."""
    record = record_of(struct.pack(">hh", 0, kind), struct.pack(">hi", 0, coordinator_epoch))
    return batch_of(record, attributes=0x30, base_offset=base_offset)


@pytest.mark.parametrize("producer_id", [-1, 0, 2**63 - 1])
@pytest.mark.parametrize("producer_epoch", [-1, 0, 32767])
@pytest.mark.parametrize("base_sequence", [-1, 0, 2**31 - 1])
def test_producer_id_epoch_and_sequence_come_back_as_chosen(
    producer_id: int, producer_epoch: int, base_sequence: int
) -> None:
    new = NewBatch(
        values=("a", "ä", ""), producer_id=producer_id, producer_epoch=producer_epoch, base_sequence=base_sequence
    )
    (batch,) = decode(new.encode())
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (
        producer_id,
        producer_epoch,
        base_sequence,
    )
    assert batch.values == ("a", "ä", "")
    assert batch.last_offset == 2


@pytest.mark.parametrize("timestamp_ms", [-1, 0, 1, LATE, 253_402_300_799_999])
def test_timestamps_keep_their_milliseconds(timestamp_ms: int) -> None:
    (batch,) = read_log(NewBatch(values=("a", "b"), timestamp_ms=timestamp_ms).encode())
    assert batch.max_timestamp_ms == timestamp_ms
    assert [record.timestamp_ms for record in batch.records] == [timestamp_ms, timestamp_ms]


def test_keys_come_back_with_nulls_where_there_was_none() -> None:
    (batch,) = read_log(NewBatch(values=("a", "b"), keys=("k", None)).encode())
    assert [record.key for record in batch.records] == [b"k", None]


def test_a_batch_is_transactional_by_default() -> None:
    assert [batch.transactional for batch in decode(NewBatch(values=("a",)).encode())] == [True]
    assert [batch.transactional for batch in decode(NewBatch(values=("a",), transactional=False).encode())] == [False]


def test_attributes_override_everything() -> None:
    (batch,) = read_log(NewBatch(values=("a",), attributes=0x38).encode())
    assert batch.attributes == 0x38
    assert batch.is_control


def test_a_thousand_records_need_longer_varints_and_come_back() -> None:
    values = tuple(f"value {number} " + "x" * (number % 200) for number in range(1000))
    (batch,) = decode(NewBatch(values=values).encode())
    assert batch.values == values


@pytest.mark.parametrize(("kind", "name"), [(0, "ABORT"), (1, "COMMIT")])
def test_a_marker_has_its_kind_and_the_coordinators_epoch(kind: int, name: str) -> None:
    (batch,) = decode(marker_of(kind, coordinator_epoch=9, base_offset=41))
    assert (batch.control, batch.coordinator_epoch, batch.base_offset) == (name, 9, 41)
    assert (batch.producer_id, batch.producer_epoch, batch.transactional) == (7, 3, True)
    assert batch.values == ()


def test_a_leader_change_is_no_marker_and_shows_no_value() -> None:
    (batch,) = decode(marker_of(2))
    assert batch.control is None
    assert batch.values == ()


def test_several_batches_are_read_and_one_that_is_cut_off_is_left_out() -> None:
    log = NewBatch(values=("a",)).encode() + marker_of(1, base_offset=1) + NewBatch(values=("cut",)).encode()[:-3]
    assert [batch.values for batch in decode(log)] == [("a",), ()]


def test_a_gzip_batch_is_read() -> None:
    batch = batch_of(gzip.compress(record_of(b"k", b"zipped")), attributes=0x11)
    assert decode(batch)[0].values == ("zipped",)


@pytest.mark.parametrize(("codec", "name"), [(2, "snappy"), (3, "lz4"), (4, "zstd"), (7, "codec 7")])
def test_another_compression_is_refused_by_name(codec: int, name: str) -> None:
    with pytest.raises(UnreadableRecords, match=f"compressed with {name}"):
        decode(batch_of(b"", attributes=codec))


def test_a_wrong_checksum_is_refused() -> None:
    spoiled = bytearray(NewBatch(values=("a",)).encode())
    spoiled[-2] ^= 1
    with pytest.raises(UnreadableRecords, match="wrong checksum"):
        decode(bytes(spoiled))


def test_an_older_message_format_is_refused() -> None:
    with pytest.raises(UnreadableRecords, match="message format 1"):
        decode(batch_of(b"", attributes=0, magic=1))


def test_bytes_that_are_no_text_are_escaped() -> None:
    assert decode(batch_of(record_of(b"", b"\xff!"), attributes=0))[0].values == ("\\xff!",)


def test_a_compacted_batch_without_records_keeps_its_offsets() -> None:
    (batch,) = decode(batch_of(b"", attributes=0x10, count=0, base_offset=8))
    assert (batch.base_offset, batch.values) == (8, ())


def test_nothing_is_an_empty_log() -> None:
    assert decode(b"") == ()
