"""Messages that a proxy passes on are written as they were read, byte for byte, apart from what is changed."""

import io
import struct

import pytest
from kio.index import load_request_schema
from kio.schema.index import api_key_map
from kio.serial import entity_writer

from harness.wire import frame_codec
from harness.wire.api_names import key_of, known_versions, name_of
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frames import encode
from harness.wire.records.batch_rewrite import identities, with_identity, with_markers_swapped
from harness.wire.records.record_batch import LogBatch, NewBatch, read_log
from harness.wire.requests.log.fetch import Fetch
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.requests.transactions.txn_offset_commit import TxnOffsetCommit
from harness.wire.requests.transactions.write_txn_markers import WriteTxnMarkers

BATCH = NewBatch(values=("a", "b"), producer_id=7, producer_epoch=2, base_sequence=5, timestamp_ms=1)
REQUESTS: tuple[tuple[ApiRequest[ApiResult], int], ...] = (
    (Produce(transactional_id="t", batches=(PartitionBatch(topic="x", partition=1, batch=BATCH),)), 12),
    (EndTxn(transactional_id="t", producer_id=7, producer_epoch=2, committed=True), 99),
    (AddPartitionsToTxn(transactional_id="t", producer_id=7, producer_epoch=2, partitions=(("x", 1),)), 99),
    (TxnOffsetCommit(transactional_id="t", group="g", producer_id=7, producer_epoch=2, offsets={("x", 1): 3}), 99),
    (WriteTxnMarkers(producer_id=7, producer_epoch=2, committed=False, partitions=(("x", 1),)), 99),
    (InitProducerId(transactional_id="t"), 99),
    (ListOffsets(topic="x", partition=1), 99),
    (Fetch(topic="x", partition=1, offset=0), 12),
)
AT_VERSIONS = [(each, v) for each, cap in REQUESTS for v in known_versions(each.api) if v <= cap]


def frame_of(api_request: ApiRequest[ApiResult], version: int) -> bytes:
    """A request as it is on the wire, without its length."""
    return encode(api_request.build(version), 4711, "who")[4:]


@pytest.mark.parametrize(("api_request", "version"), AT_VERSIONS, ids=lambda part: getattr(part, "api", str(part)))
def test_a_request_that_is_read_and_written_again_is_the_same(api_request: ApiRequest[ApiResult], version: int) -> None:
    frame = frame_of(api_request, version)
    head = frame_codec.request_header(frame)
    assert (head.api, head.version, head.correlation, head.client_id) == (api_request.api, version, 4711, "who")
    assert frame_codec.request_with_body(frame, head, frame_codec.read_request(frame, head)) == frame


def test_another_correlation_id_is_all_that_a_twin_differs_in() -> None:
    frame = frame_of(EndTxn(transactional_id="t", producer_id=7, producer_epoch=2, committed=True), 3)
    twin = frame_codec.renumbered(frame, -9)
    assert frame_codec.request_header(twin).correlation == -9
    assert twin[:4] + twin[8:] == frame[:4] + frame[8:]


@pytest.mark.parametrize("frame", [b"", b"\0\1", struct.pack(">hhih", 9999, 0, 1, -1) + b"more"])
def test_what_is_no_request_is_refused(frame: bytes) -> None:
    with pytest.raises(frame_codec.UnreadableRequest):
        frame_codec.read_request(frame, frame_codec.request_header(frame))


@pytest.mark.parametrize("version", known_versions("Produce"))
def test_a_forged_answer_is_read_as_an_answer(version: int) -> None:
    head = frame_codec.RequestHeader(key_of("Produce"), version, 12, "who", 0)
    parts = ({"index": 1, "base_offset": 40, "error_code": 0},)
    body = frame_codec.make_response(head, responses=({"name": "x", "partition_responses": parts},))
    frame = frame_codec.write_response(head, body)
    assert struct.unpack_from(">i", frame) == (12,)
    answer = ResponseFields(frame_codec.read_response(head, frame)).first("responses").first("partition_responses")
    assert (answer.number("index"), answer.number("base_offset"), answer.error()) == (1, 40, 0)


@pytest.mark.parametrize("version", [v for v in known_versions("Fetch") if v <= 16])
def test_an_answer_that_is_read_and_written_again_is_the_same(version: int) -> None:
    head = frame_codec.RequestHeader(key_of("Fetch"), version, 12, "who", 0)
    aborted = ({"producer_id": 7, "first_offset": 3},)
    part = {"partition_index": 1, "high_watermark": 9, "last_stable_offset": 8, "records": BATCH.encode()}
    body = frame_codec.make_response(
        head, responses=({"topic": "x", "partitions": ({**part, "aborted_transactions": aborted},)},)
    )
    frame = frame_codec.write_response(head, body)
    assert frame_codec.write_response(head, frame_codec.read_response(head, frame)) == frame


def test_errors_of_an_answer_are_found_at_every_depth() -> None:
    head = frame_codec.RequestHeader(key_of("Produce"), 9, 1, "who", 0)
    parts = tuple({"index": i, "error_code": error} for i, error in enumerate((0, 47)))
    body = frame_codec.make_response(head, responses=({"name": "x", "partition_responses": parts},))
    assert list(frame_codec.errors_in(body)) == [0, 47]


def test_a_batch_under_another_identity_is_a_sound_batch() -> None:
    both = BATCH.encode() + BATCH.encode()
    changed = with_identity(both, 8, 3, lambda was: was.sequence + 10)
    assert [(b.producer_id, b.producer_epoch, b.base_sequence) for b in read_log(changed)] == [(8, 3, 15), (8, 3, 15)]
    assert [[r.value for r in b.records] for b in read_log(changed)] == [[b"a", b"b"]] * 2
    assert [(who.producer_id, who.count, who.transactional) for who in identities(both)] == [(7, 2, True)] * 2


def marker(kind: int) -> bytes:
    """A control batch: key (version 0, type), value (version 0, coordinator epoch 4)."""
    key, value = "\0\0\0" + chr(kind), "\0\0\0\0\0\4"
    return NewBatch(values=(value,), keys=(key,), producer_id=7, producer_epoch=2, attributes=0x30).encode()


def test_markers_are_swapped_and_records_are_left_alone() -> None:
    log = BATCH.encode() + marker(1) + BATCH.encode() + marker(0) + BATCH.encode()[:50]
    changed, count = with_markers_swapped(log)
    kinds: list[str | None] = [kind_of(batch) for batch in read_log(changed)]
    assert (kinds, count) == ([None, "ABORT", None, "COMMIT"], 2)
    assert with_markers_swapped(changed)[0] == log


def kind_of(batch: LogBatch) -> str | None:
    """COMMIT, ABORT or None."""
    return batch.marker[0] if batch.marker else None


def test_the_client_id_is_found_in_the_header_of_every_api_and_version() -> None:
    for key in api_key_map:
        for version in known_versions(name_of(key)):
            header = load_request_schema(key, version).__header_schema__
            values = {
                "request_api_key": key,
                "request_api_version": version,
                "correlation_id": 9,
                "client_id": "victim-1",
            }
            with io.BytesIO() as buffer:
                entity_writer(header)(buffer, header(**values))  # type: ignore[arg-type]
                read = frame_codec.request_header(buffer.getvalue() + b"\0\0")
            assert (read.key, read.version, read.correlation, read.client_id) == (key, version, 9, "victim-1")
