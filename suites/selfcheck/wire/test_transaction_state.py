"""Records of ``__transaction_state`` from handmade bytes."""

import struct

import pytest

from harness.wire.records.record_batch import NewBatch, Record, escaped, read_log
from harness.wire.records.transaction_state import NewState, decode_state
from harness.wire.wire_errors import UnreadableRecords

KEY = struct.pack(">hh", 0, 2) + b"id"
HEAD = struct.pack(">qhib", 4711, 12, 60_000, 1)
TIMES = struct.pack(">qq", 1_700_000_000_001, 1_700_000_000_000)
VALUE_V0 = (
    struct.pack(">h", 0)
    + HEAD
    + struct.pack(">i", 1)
    + struct.pack(">h", 1)
    + b"t"
    + struct.pack(">iii", 2, 0, 3)
    + TIMES
)


def flexible(*tags: tuple[int, bytes]) -> bytes:
    """A v1 value with one partition t-0 and these tagged fields."""
    partitions = b"\x02" + b"\x02t" + b"\x02" + struct.pack(">i", 0) + b"\x00"
    tagged = bytes([len(tags)]) + b"".join(bytes([tag, len(data)]) + data for tag, data in tags)
    return struct.pack(">h", 1) + HEAD + partitions + TIMES + tagged


def record(value: bytes | None, key: bytes = KEY) -> Record:
    """A record at offset 17."""
    return Record(offset=17, timestamp_ms=0, key=key, value=value)


def test_version_0_has_state_partitions_and_times() -> None:
    state = decode_state(record(VALUE_V0))
    assert (state.transactional_id, state.offset, state.version, state.state) == ("id", 17, 0, "Ongoing")
    assert (state.producer_id, state.producer_epoch, state.timeout_ms) == (4711, 12, 60_000)
    assert state.partitions == ["t-0", "t-3"]
    assert (state.last_update_ms, state.start_ms) == (1_700_000_000_001, 1_700_000_000_000)
    assert (state.previous_producer_id, state.next_producer_id, state.next_producer_epoch) == (-1, -1, -1)


def test_version_0_may_have_no_partitions_at_all() -> None:
    value = struct.pack(">h", 0) + HEAD + struct.pack(">i", -1) + TIMES
    assert decode_state(record(value)).partitions == []


def test_version_1_has_its_tagged_fields() -> None:
    value = flexible(
        (0, struct.pack(">q", 4710)), (1, struct.pack(">q", 4712)), (2, struct.pack(">h", 2)), (3, struct.pack(">h", 0))
    )
    state = decode_state(record(value))
    assert (state.previous_producer_id, state.next_producer_id) == (4710, 4712)
    assert (state.client_transaction_version, state.next_producer_epoch) == (2, 0)
    assert state.partitions == ["t-0"]


def test_version_1_without_tags_has_defaults_and_an_unknown_tag_is_passed_over() -> None:
    assert decode_state(record(flexible())).client_transaction_version == 0
    state = decode_state(record(flexible((2, struct.pack(">h", 2)), (9, b"later"))))
    assert state.client_transaction_version == 2


def test_a_tombstone_means_that_the_id_was_removed() -> None:
    state = decode_state(record(None))
    assert (state.transactional_id, state.state) == ("id", "Gone")


@pytest.mark.parametrize("value", [VALUE_V0[:-1], VALUE_V0[:9], flexible()[:-18]])
def test_a_value_that_ends_too_early_is_refused(value: bytes) -> None:
    with pytest.raises(UnreadableRecords, match="ends too early"):
        decode_state(record(value))


def test_an_unknown_layout_is_refused_by_its_version() -> None:
    with pytest.raises(UnreadableRecords, match="version 5"):
        decode_state(record(struct.pack(">h", 5) + HEAD))
    with pytest.raises(UnreadableRecords, match="key has version 1"):
        decode_state(record(VALUE_V0, key=struct.pack(">h", 1)))


def test_a_new_state_may_have_tagged_fields() -> None:
    new = NewState("id", 4711, 12, 60_000, tags=((1, struct.pack(">q", 4712)), (100, b"later")))
    state = decode_state(record(new.value, new.key))
    assert (state.version, state.state, state.producer_id, state.next_producer_id) == (1, "Empty", 4711, 4712)


def test_a_new_state_is_read_back_through_a_batch() -> None:
    new = NewState("id", 1 << 40, 32765, 60_000)
    (batch,) = read_log(NewBatch(values=(escaped(new.value),), keys=(escaped(new.key),), transactional=False).encode())
    state = decode_state(batch.records[0])
    assert (state.transactional_id, state.version, state.state, state.partitions) == ("id", 0, "Empty", [])
    assert (state.producer_id, state.producer_epoch, state.timeout_ms) == (1 << 40, 32765, 60_000)
    assert (state.start_ms, state.last_update_ms > 0) == (-1, True)
