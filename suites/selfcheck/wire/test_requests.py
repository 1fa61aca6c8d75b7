"""Every request can be built at every version that kio knows, and all of its values are in what is built."""

import dataclasses
import io
import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest
from kio.serial import entity_writer

from harness.base.bound_values import load_module
from harness.base.json_value import Json
from harness.base.paths import ROOT
from harness.wire.api_names import key_of, known_versions, name_of
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.codec.entity_decoder import read_entity
from harness.wire.codec.json_form import json_form
from harness.wire.frames import decode, encode, with_version
from harness.wire.offered import Offered
from harness.wire.records.record_batch import NewBatch
from harness.wire.requests.cluster.acls import (
    Acl,
    AclOperation,
    CreateAcls,
    DeleteAcls,
    DescribeAcls,
    Pattern,
    Resource,
)
from harness.wire.requests.cluster.alter_partition_reassignments import AlterPartitionReassignments
from harness.wire.requests.cluster.api_versions import ApiVersions
from harness.wire.requests.cluster.create_topic import CreateTopic
from harness.wire.requests.cluster.delete_topics import DeleteTopics
from harness.wire.requests.cluster.describe_configs import DescribeConfigs
from harness.wire.requests.cluster.describe_quorum import DescribeQuorum
from harness.wire.requests.cluster.elect_leaders import ElectLeaders
from harness.wire.requests.cluster.incremental_alter_configs import IncrementalAlterConfigs
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.cluster.update_features import UpdateFeatures
from harness.wire.requests.groups.delete_groups import DeleteGroups
from harness.wire.requests.groups.find_coordinator import FindCoordinator, FindCoordinators
from harness.wire.requests.groups.heartbeat import Heartbeat
from harness.wire.requests.groups.join_group import JoinGroup
from harness.wire.requests.groups.leave_group import LeaveGroup
from harness.wire.requests.groups.offset_fetch import OffsetFetch, OffsetFetchOfGroups
from harness.wire.requests.groups.sync_group import SyncGroup
from harness.wire.requests.log.delete_records import DeleteRecords
from harness.wire.requests.log.fetch import Fetch
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.requests.transactions.add_offsets_to_txn import AddOffsetsToTxn
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn, AddPartitionsToTxns
from harness.wire.requests.transactions.describe_producers import DescribeProducers, DescribeProducersOf
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions, DescribeTransactionsOf
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.requests.transactions.list_transactions import ListTransactions
from harness.wire.requests.transactions.txn_offset_commit import TxnOffsetCommit
from harness.wire.requests.transactions.write_txn_markers import TxnMarker, WriteSeveralTxnMarkers, WriteTxnMarkers
from harness.wire.wire_errors import CannotBuild, UnreadableAnswer

TOPIC_ID = UUID("00112233-4455-6677-8899-aabbccddeeff")
WHO: Mapping[str, Any] = {"transactional_id": "who", "producer_id": 4711, "producer_epoch": 12}
WHERE = (("t", 6), ("u", 7), ("t", 8))
BATCH = NewBatch(values=("v",), keys=("k",), producer_id=4711, producer_epoch=12, base_sequence=99, timestamp_ms=77)
ACL = Acl(principal="User:a", resource=Resource.TOPIC, name="t", operation=AclOperation.READ, pattern=Pattern.PREFIXED)

REQUESTS: tuple[ApiRequest[ApiResult], ...] = (
    AddOffsetsToTxn(**WHO, group="g"),
    AddPartitionsToTxn(**WHO, partitions=WHERE),
    AddPartitionsToTxn(**WHO, partitions=WHERE, verify_only=True),
    AddPartitionsToTxns(transactions=(AddPartitionsToTxn(**WHO, partitions=WHERE),)),
    AlterPartitionReassignments(replicas={("t", 6): (21, 22), ("u", 7): None}, timeout_ms=1234),
    ApiVersions(),
    CreateAcls(acls=(ACL,)),
    DeleteAcls(acls=(ACL,)),
    DescribeAcls(acl=ACL),
    CreateTopic(name="t", assignment={6: (21, 22)}, configs={"retention.ms": "99"}, timeout_ms=1234),
    CreateTopic(name="t", partitions=6, replicas=3),
    DeleteGroups(groups=("g", "h")),
    DeleteRecords(topic="t", partition=6, offset=55, timeout_ms=1234),
    DeleteTopics(topics=("t", "u"), timeout_ms=1234),
    DescribeConfigs(resource_type=4, resource_name="21", keys=("retention.ms",)),
    DescribeConfigs(resource_type=2, resource_name="t"),
    DescribeConfigs(resource_type=4, resource_name="21", synonyms=True),
    DescribeProducers(topic="t", partition=6),
    DescribeProducersOf(partitions=WHERE),
    DescribeQuorum(),
    DescribeTransactions(transactional_id="who"),
    DescribeTransactionsOf(transactional_ids=("who", "whom")),
    ElectLeaders(partitions=WHERE, timeout_ms=1234),
    ElectLeaders(partitions=None, election_type=1),
    EndTxn(**WHO, committed=True),
    EndTxn(**WHO, committed=False),
    Fetch(topic="t", partition=6, offset=55, isolation=1, max_bytes=1234, max_wait_ms=56, min_bytes=78),
    Fetch(topic="t", partition=6, offset=55, topic_id=TOPIC_ID),
    FetchWatermarks(partitions=WHERE, leader_epochs={("t", 6): 13}),
    Fetch(topic="t", partition=6, offset=55, leader_epoch=13),
    ListOffsets(topic="t", partition=6, leader_epoch=13),
    FindCoordinator(key="who"),
    FindCoordinator(key="g", key_type=0),
    FindCoordinators(keys=("who", "whom")),
    Heartbeat(group="g", generation=3, member="m"),
    IncrementalAlterConfigs(resource_type=4, resource_name="21", set={"a": "b"}, delete=("c",)),
    InitProducerId(transactional_id="who", timeout_ms=1234),
    InitProducerId(**WHO, timeout_ms=1234),
    InitProducerId(transactional_id=None),
    JoinGroup(group="g", member="m", session_timeout_ms=1234, rebalance_timeout_ms=56, protocols=(("range", b"x"),)),
    LeaveGroup(group="g", member="m"),
    ListOffsets(topic="t", partition=6, timestamp=-2),
    ListOffsets(topic="t", partition=6, timestamp=1234, isolation=1),
    ListTransactions(states=("Ongoing",), producer_ids=(4711,)),
    ListTransactions(states=("Ongoing",), producer_ids=(4711,), duration_ms=1234),
    ListTransactions(duration_ms=1234, pattern="w.*"),
    Metadata(topics=("t", "u")),
    Metadata(topics=None),
    Metadata(topics=("t",), create=True),
    OffsetFetch(group="g", partitions=WHERE),
    OffsetFetch(group="g", partitions=None, require_stable=True),
    OffsetFetch(group="g", partitions=(("t", 6),), topic_ids={"t": TOPIC_ID}),
    OffsetFetchOfGroups(places={"g": ("t", 6), "h": ("t", 7)}, require_stable=True),
    Produce(transactional_id="who", batches=(PartitionBatch(topic="t", partition=6, batch=BATCH),), timeout_ms=1234),
    Produce(
        transactional_id=None,
        batches=(PartitionBatch(topic="t", partition=6, batch=BATCH, topic_id=TOPIC_ID),),
        acks=1,
    ),
    SyncGroup(group="g", generation=3, member="m", protocol="range", assignments={"m": b"x"}),
    TxnOffsetCommit(**WHO, group="g", offsets={("t", 6): 55, ("u", 7): 56}),
    TxnOffsetCommit(**WHO, group="g", offsets={("t", 6): 55}, generation=3, member="m"),
    UpdateFeatures(feature="transaction.version", level=2),
    UpdateFeatures(feature="transaction.version", level=1, upgrade_type=3, validate_only=True, timeout_ms=1234),
    WriteTxnMarkers(producer_id=4711, producer_epoch=12, committed=True, partitions=WHERE, coordinator_epoch=31),
    WriteTxnMarkers(producer_id=4711, producer_epoch=12, committed=False, partitions=WHERE, transaction_version=2),
    WriteSeveralTxnMarkers(
        markers=(
            TxnMarker(producer_id=4711, producer_epoch=12, committed=True, partitions=WHERE, coordinator_epoch=31),
            TxnMarker(producer_id=4712, producer_epoch=13, committed=False, partitions=(("v", 9),)),
        )
    ),
)


def buildable(request: ApiRequest[ApiResult]) -> dict[int, dict[str, Json]]:
    """The request in JSON at every version that can carry it."""
    built = {}
    for version in known_versions(request.api):
        try:
            built[version] = json_form(request.build(version))
        except CannotBuild:
            continue
    return built


def leaves(value: object) -> Iterator[object]:
    """Every scalar inside."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(key) if isinstance(key, tuple) else ()
            yield from leaves(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, bytes):
        yield value.hex()
    else:
        yield str(value) if isinstance(value, UUID) else value


def name_of_request(request: object) -> str:
    return type(request).__name__


@pytest.mark.parametrize("api_request", REQUESTS, ids=name_of_request)
def test_what_is_written_reads_back_as_what_was_built(api_request: ApiRequest[ApiResult]) -> None:
    for version, built in buildable(api_request).items():
        entity = api_request.build(version)
        frame = encode(entity, 9, "actor")
        assert struct.unpack_from(">ihhi", frame) == (len(frame) - 4, key_of(api_request.api), version, 9)
        again, end = read_entity(type(entity), frame, frame.index(b"actor") + 5 + entity.__flexible__)
        assert end == len(frame)
        assert json_form(again) == built


@pytest.mark.parametrize("api_request", REQUESTS, ids=name_of_request)
def test_bytes_are_those_that_kio_writes(api_request: ApiRequest[ApiResult]) -> None:
    for version in buildable(api_request):
        entity = api_request.build(version)
        head = {"request_api_key": entity.__api_key__, "request_api_version": version}
        header = entity.__header_schema__(**head, correlation_id=9, client_id="actor")  # type: ignore[arg-type]
        with io.BytesIO() as buffer:
            entity_writer(type(header))(buffer, header)
            entity_writer(type(entity))(buffer, entity)
            assert encode(entity, 9, "actor")[4:] == buffer.getvalue()


@pytest.mark.parametrize("api_request", REQUESTS, ids=name_of_request)
def test_every_value_is_sent_at_some_version_and_nothing_stays_bytes(api_request: ApiRequest[ApiResult]) -> None:
    built = buildable(api_request)
    assert built
    json.dumps(built)
    sent = set(leaves(list(built.values())))
    unset = {None, -1, 0, "", "none"}  # "none" is the codec 0 of a batch
    # In another form: counts of 1 that an assignment replaces; transactional=True, a bit of the attributes.
    converted = {1} if isinstance(api_request, CreateTopic | Produce) else set()
    assert {leaf for leaf in leaves(api_request) if leaf not in unset} - converted <= sent


def test_every_request_of_the_folder_is_built_here() -> None:
    files = (ROOT / "harness" / "wire" / "requests").glob("*/[a-z]*.py")
    bound = [value for file in files for value in vars(load_module(file)).values()]
    assert {type(each) for each in REQUESTS} == {
        value for value in bound if isinstance(value, type) and "api" in vars(value)
    }


def test_a_request_can_go_out_under_the_number_of_another_version() -> None:
    request = AddPartitionsToTxn(**WHO, partitions=WHERE).build(5)
    frame = with_version(encode(request, 9, "actor"), 6)
    assert struct.unpack_from(">ihhi", frame) == (len(frame) - 4, 24, 6, 9)
    assert frame[8:] == encode(request, 9, "actor")[8:]


def test_each_api_can_be_built_at_every_version_unless_more_is_asked_for() -> None:
    for api in {each.api for each in REQUESTS}:
        built = {version for each in REQUESTS if each.api == api for version in buildable(each)}
        assert built == set(known_versions(api)), api


@pytest.mark.parametrize(
    ("api_request", "version"),
    [
        (AddPartitionsToTxn(**WHO, partitions=WHERE, verify_only=True), 3),
        (AddPartitionsToTxns(transactions=(AddPartitionsToTxn(**WHO, partitions=WHERE),) * 2), 3),
        (EndTxn(**WHO, committed=True), 99),
        (Fetch(topic="t", partition=0, offset=0), 13),
        (FindCoordinator(key="who"), 0),
        (FindCoordinators(keys=("who",)), 3),
        (InitProducerId(**WHO), 2),
        (ListTransactions(pattern="w.*"), 1),
        (OffsetFetch(group="g", partitions=WHERE), 10),
        (OffsetFetchOfGroups(places={"g": ("t", 6)}), 7),
        (OffsetFetchOfGroups(places={"g": ("t", 6)}), 10),
        (OffsetFetch(group="g", partitions=WHERE, require_stable=True), 6),
        (OffsetFetch(group="g", partitions=None), 1),
        (Produce(transactional_id="who", batches=(PartitionBatch(topic="t", partition=0, batch=BATCH),)), 13),
        (TxnOffsetCommit(**WHO, group="g", offsets={}, generation=3), 2),
        (WriteTxnMarkers(**{k: WHO[k] for k in ("producer_id", "producer_epoch")}, committed=True, partitions=WHERE,
                         transaction_version=2), 1),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, int) else str(value),
)  # fmt: skip
def test_a_request_that_a_version_cannot_carry_is_refused_rather_than_changed(
    api_request: ApiRequest[ApiResult], version: int
) -> None:
    with pytest.raises(CannotBuild):
        api_request.build(version)


def test_an_id_with_nothing_open_has_start_time_minus_one() -> None:
    # kio's own reader refuses this answer, which every idle transactional id gives.
    state = struct.pack(">h", 0) + b"\x04who" + b"\x06Empty" + struct.pack(">iqqh", 60_000, -1, 4711, 12) + b"\x01\x00"
    body = struct.pack(">i", 9) + b"\x00" + struct.pack(">i", 0) + b"\x02" + state + b"\x00"
    response = decode(key_of("DescribeTransactions"), 0, body)
    result = DescribeTransactions(transactional_id="who").read(response)
    assert (result.state, result.start_time_ms, result.timeout_ms, result.producer_epoch) == ("Empty", -1, 60_000, 12)
    json.dumps(json_form(response))


def test_each_transaction_of_a_batch_has_its_own_answer() -> None:
    def transaction(name: bytes, error: int) -> bytes:
        partition = struct.pack(">ih", 6, error) + b"\x00"
        return bytes([len(name) + 1]) + name + b"\x02\x02t\x02" + partition + b"\x00\x00"

    body = struct.pack(">i", 9) + b"\x00" + struct.pack(">ih", 0, 0)
    answer = decode(24, 5, body + b"\x03" + transaction(b"who", 0) + transaction(b"whom", 49) + b"\x00")
    result = AddPartitionsToTxns(transactions=()).read(answer)
    assert result.error == 49
    assert result.transactions == {
        "who": {"error": 0, "partitions": {"t-6": 0}},
        "whom": {"error": 49, "partitions": {"t-6": 49}},
    }


def test_an_error_code_that_kio_does_not_list_is_still_read() -> None:
    response = decode(key_of("EndTxn"), 0, struct.pack(">iih", 9, 0, 9999))
    assert EndTxn(**WHO, committed=True).read(response).error == 9999


@pytest.mark.parametrize(("body", "what"), [(b"\0\0", "too early"), (b"\0\0\0\0\0\0\0", "bytes too many")])
def test_an_answer_of_the_wrong_length_is_unreadable(body: bytes, what: str) -> None:
    with pytest.raises(UnreadableAnswer, match=what):
        decode(key_of("EndTxn"), 0, struct.pack(">i", 9) + body)


def test_features_and_ranges_are_read_from_a_flexible_answer() -> None:
    supported = b"\x02" + b"\x14" + b"transaction.version" + struct.pack(">hh", 0, 2) + b"\x00"
    finalized = b"\x02" + b"\x14" + b"transaction.version" + struct.pack(">hh", 2, 2) + b"\x00"
    tags = b"\x03" + b"".join(
        bytes([tag, len(data)]) + data for tag, data in ((0, supported), (1, struct.pack(">q", 40)), (2, finalized))
    )
    keys = b"\x03" + struct.pack(">hhh", 26, 0, 5) + b"\x00" + struct.pack(">hhh", 999, 1, 2) + b"\x00"
    body = struct.pack(">ih", 9, 0) + keys + struct.pack(">i", 0) + tags
    offered = ApiVersions().read(decode(key_of("ApiVersions"), 4, body))
    assert offered == Offered(
        apis={"EndTxn": (0, 5), "Api999": (1, 2)},
        supported_features={"transaction.version": (0, 2)},
        finalized_features={"transaction.version": 2},
        finalized_features_epoch=40,
    )


def test_records_that_cannot_be_read_do_not_cost_the_journal_its_line() -> None:
    request = Produce(
        transactional_id="who",
        batches=(PartitionBatch(topic="t", partition=0, batch=NewBatch(values=("v",), attributes=2)),),
    )
    assert "compressed with snappy" in json.dumps(json_form(request.build(9)))


def test_names_are_kafkas_own() -> None:
    assert [name_of(key) for key in (0, 24, 27, 28, 65)] == [
        "Produce",
        "AddPartitionsToTxn",
        "WriteTxnMarkers",
        "TxnOffsetCommit",
        "DescribeTransactions",
    ]
