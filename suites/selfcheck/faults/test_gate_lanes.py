"""The gate behind a lane: answers name brokers by the lane's addresses, and every other byte passes as it came."""

import socket
import struct
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from harness.base import wait
from harness.base.addresses import Address
from harness.base.kafka_error import KafkaError
from harness.cluster.cluster import Cluster
from harness.cluster.topology import Topology
from harness.faults.frame_rule import Rule, Then, When
from harness.faults.gate.lane_addresses import LaneAddresses
from harness.faults.gate.reading_lane import open_reading_lane
from harness.wire.api_names import key_of, known_versions
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import RequestHeader, make_response, read_response, write_response
from suites.selfcheck.fixtures.gate_pair import PATIENCE, GatePair, RawClient, gate_pair, read_frame, running_gate

BROKERS = {1: Address("b1.example", 9092), 2: Address("b2.example", 9092)}
LANE = {1: Address("127.0.9.1", 4001), 2: Address("127.0.9.2", 4002)}
STRANGER = {7: Address("b7.example", 9092)}
NAMING = [
    (api, version) for api in ("Metadata", "FindCoordinator", "DescribeCluster") for version in known_versions(api)
]
ENDPOINTS = [("Produce", 10), ("Produce", 13), ("Fetch", 16), ("Fetch", 18)]

Body = Callable[[RequestHeader], object]
Named = dict[int, Address]


def naming(nodes: Named) -> Body:
    """An answer that names these brokers; of those that name one, the last."""

    def body(head: RequestHeader) -> object:
        parts = tuple(
            {"node_id": n, "broker_id": n, "host": a.host, "port": a.port, "key": "k"} for n, a in nodes.items()
        )
        brokers = tuple(
            {k: v for k, v in part.items() if k != ("broker_id", "node_id")[described(head)]} for part in parts
        )
        fields: dict[str, object] = {
            "brokers": brokers,
            "coordinators": parts,
            "node_endpoints": parts,
            "endpoint_type": 1,
            "cluster_id": "c",
        }
        last = parts[-1]
        return make_response(head, **fields, **{name: last[name] for name in ("node_id", "host", "port")})

    return body


def described(head: RequestHeader) -> bool:
    return head.api == "DescribeCluster"


def named(head: RequestHeader, frame: bytes) -> Named:
    """The brokers that an answer names."""
    fields = ResponseFields(read_response(head, frame))
    several = [*fields.parts("brokers"), *fields.parts("coordinators"), *fields.parts("node_endpoints")]
    id_field = "broker_id" if described(head) else "node_id"
    one = [fields] if fields.has("host") else []
    return {part.number(id_field): Address(part.text("host"), part.number("port")) for part in several or one}


def expected(head: RequestHeader, nodes: Named) -> Named:
    single = head.api == "FindCoordinator" and head.version < 4
    return dict([list(nodes.items())[-1]]) if single else nodes


@pytest.fixture(scope="module")
def lane() -> Iterator[Callable[[Body], GatePair]]:
    """Makes brokers behind one gate, each with a lane of its own; the gate must end without errors of its own."""
    with running_gate() as (gate, links):
        opened = []

        def behind(body: Body) -> GatePair:
            pairing = gate_pair(gate, links, lambda head: write_response(head, body(head)))
            pair = pairing.__enter__()
            opened.append(pairing)
            gate.gate_process.keep_on_lane([pair.proxy], LANE, [address.host for address in BROKERS.values()])
            return pair

        yield behind
        for pairing in opened:
            pairing.__exit__(None, None, None)
        assert gate.errors() == ()


def asked(client: RawClient, api: str, version: int, correlation: int = 5) -> tuple[RequestHeader, bytes]:
    """Send a request without a body, and give the answer's frame; the gate does not read requests."""
    head = RequestHeader(key_of(api), version, correlation, "", 10)
    client.connected.sendall(struct.pack(">ihhih", 10, head.key, version, correlation, 0))
    return head, read_frame(client.connected)


@pytest.mark.parametrize(("api", "version"), [*NAMING, *ENDPOINTS])
def test_brokers_are_named_by_the_lanes_addresses(lane: Callable[[Body], GatePair], api: str, version: int) -> None:
    head, frame = asked(lane(naming(BROKERS)).call(), api, version)
    assert named(head, frame) == expected(head, LANE)


@pytest.mark.parametrize(("api", "version"), [*NAMING, *ENDPOINTS])
def test_a_broker_without_a_lane_is_hidden_and_noted(lane: Callable[[Body], GatePair], api: str, version: int) -> None:
    pair = lane(naming({**BROKERS, **STRANGER}))
    head, frame = asked(pair.call(), api, version)
    found = named(head, frame)
    assert found.keys() <= {1, 2, -1}
    if -1 in found:
        codes = ResponseFields(read_response(head, frame))
        code = codes.parts("coordinators")[-1].error() if codes.has("coordinators") else codes.error()
        assert code == KafkaError.COORDINATOR_NOT_AVAILABLE
    assert "broker 7 has no lane, and was hidden from clients that follow Metadata" in pair.gate.notes()


@pytest.mark.parametrize("api", ["EndTxn", "InitProducerId", "ApiVersions", "ListOffsets", "DescribeConfigs"])
def test_bytes_of_other_answers_are_not_touched(api: str) -> None:
    answer = struct.pack(">i", 5) + b"b1.example:9092 and anything else \xff\x00"
    with running_gate() as (gate, links), gate_pair(gate, links, lambda _: answer) as pair:
        gate.gate_process.keep_on_lane([pair.proxy], LANE, ["b1.example"])
        assert asked(pair.call(), api, 1)[1] == answer
        assert gate.errors() == ()


@pytest.mark.parametrize(("api", "version"), [("Produce", 9), ("Fetch", 15), ("Produce", 12), ("Fetch", 17)])
def test_bytes_of_data_that_names_no_broker_are_not_touched(
    lane: Callable[[Body], GatePair], api: str, version: int
) -> None:
    """Also where a record has an advertised host in it, which makes the gate look."""
    topics = {"topic": "t", "topic_id": None, "name": "t"}
    key = {"partition_index": 0, "records": b"a record that says b1.example"} if api == "Fetch" else {"index": 0}
    parts = {"partitions": (key,), "partition_responses": (key,)}
    written: list[bytes] = []

    def data(head: RequestHeader) -> object:
        body = make_response(head, responses=({**topics, **parts},))
        written.append(write_response(head, body))
        return body

    assert asked(lane(data).call(), api, version)[1] == written[0]


def test_an_answer_with_an_error_names_nobody_and_is_not_touched(lane: Callable[[Body], GatePair]) -> None:
    head, frame = asked(lane(lambda head: make_response(head, error_code=15, host="")).call(), "FindCoordinator", 3)
    assert ResponseFields(read_response(head, frame)).error() == 15


def test_controllers_are_no_brokers(lane: Callable[[Body], GatePair]) -> None:
    part = {"broker_id": 1, "host": "c1", "port": 9}
    pair = lane(lambda head: make_response(head, endpoint_type=2, cluster_id="c", brokers=(part,)))
    head, frame = asked(pair.call(), "DescribeCluster", 1)
    assert named(head, frame) == {1: Address("c1", 9)}


def test_a_host_is_learnt_from_the_answers() -> None:
    lane = LaneAddresses(addresses=LANE)
    head = RequestHeader(key_of("Produce"), 12, 5, "", 10)
    raw = with_length(write_response(head, naming(BROKERS)(head)))
    assert lane.replaced(head, raw) is raw, "no broker was heard of"
    metadata = RequestHeader(key_of("Metadata"), 12, 4, "", 10)
    lane.replaced(metadata, with_length(write_response(metadata, naming(BROKERS)(metadata))))
    assert named(head, lane.replaced(head, raw)[4:]) == LANE


def test_a_rule_and_the_lane_both_act_on_an_answer(lane: Callable[[Body], GatePair]) -> None:
    pair = lane(naming(BROKERS))
    when = When(apis=("FindCoordinator",))
    handle = pair.gate.add_rule(Rule(name="held", proxies=(pair.proxy,), when=when, then=Then(action="hold")))
    client = pair.call()
    client.connected.sendall(struct.pack(">ihhih", 13, key_of("FindCoordinator"), 0, 6, 0) + b"\0\1k")
    wait.until(lambda: handle.report().holding == 1, what="a hold", timeout_seconds=PATIENCE)
    handle.off()
    head = RequestHeader(key_of("FindCoordinator"), 0, 6, "", 10)
    assert named(head, read_frame(client.connected)) == {2: LANE[2]}


def test_an_answer_that_cannot_be_read_passes_and_is_an_error() -> None:
    garbage = struct.pack(">i", 5) + b"\xff"
    with running_gate() as (gate, links), gate_pair(gate, links, lambda _: garbage) as pair:
        gate.gate_process.keep_on_lane([pair.proxy], LANE, [])
        assert asked(pair.call(), "Metadata", 12)[1] == garbage
        (error,) = gate.errors()
        assert "addresses on lane-victim-0 were not replaced: Metadata v12" in error


def observed(pair: GatePair, advertised: Address) -> Cluster:
    """A cluster of one broker that is not ours."""
    topology = Topology(
        brokers=(1,), controller=None, lanes={"observer": {1: pair.broker.address}}, advertised={1: advertised}
    )
    return cast(Cluster, SimpleNamespace(owned=False, topology=topology))


def test_readers_go_straight_to_brokers_that_are_where_they_say(lane: Callable[[Body], GatePair]) -> None:
    pair = lane(naming(BROKERS))
    reading = open_reading_lane(observed(pair, pair.broker.address))
    assert reading.addresses == {1: pair.broker.address}
    assert reading.gate_process is None


def test_readers_of_brokers_behind_mapped_ports_stay_on_their_lane(lane: Callable[[Body], GatePair]) -> None:
    pair = lane(naming({1: BROKERS[1]}))
    reading = open_reading_lane(observed(pair, BROKERS[1]))
    try:
        assert reading.addresses[1] != pair.broker.address
        with socket.create_connection((reading.addresses[1].host, reading.addresses[1].port), PATIENCE) as connected:
            head, frame = asked(RawClient(connected), "Metadata", 12)
        assert named(head, frame) == reading.addresses
        assert reading.bootstrap == str(reading.addresses[1])
    finally:
        reading.close()
        reading.close()


def with_length(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame
