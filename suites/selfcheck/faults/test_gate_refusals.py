"""Requests that the gate refuses in the broker's place: the shape of each refusal, and its place among the answers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from harness.base import wait
from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.unprepared import Unprepared
from harness.evidence.requirement_evidence import Fault
from harness.faults.frame_rule import Then, When
from harness.faults.gate.lie import LiedRequest, LiedResponse
from harness.faults.gate.refused_in_place import REFUSALS, refused_in_place
from harness.faults.gate.request_info import LatestEpochs, request_info
from harness.lab.powers.request_gate import Gated, GateWish, RequestGate
from harness.wire.api_names import known_versions
from harness.wire.codec.answer_rewrite import innermost_errors
from harness.wire.codec.json_form import json_form
from harness.wire.codec.request_builder import request
from harness.wire.frame_codec import read_request, read_response, request_header, write_response
from harness.wire.frames import encode
from harness.wire.requests.log.produce import Produce
from suites.selfcheck.fixtures.gate_pair import PATIENCE, GatePair, answers, end, held, init, on, produce

pytest_plugins = ("suites.selfcheck.fixtures.gate_pair",)

FENCED = 90
WHO: Mapping[str, Any] = {"transactional_id": "t", "producer_id": 1, "producer_epoch": 0}
PARTITIONS = {"name": "x", "partitions": (0, 3)}
COMMITTED = {"committed_offset": 5, "committed_metadata": ""}
TO_FETCH = {"name": "x", "topic_id": UUID(int=5), "partition_indexes": (0, 3)}
EVERY: Mapping[str, Mapping[str, Any]] = {
    "Produce": {
        "acks": -1,
        "timeout": 1000,
        "topic_data": (
            {
                "name": "x",
                "topic_id": UUID(int=5),
                "partition_data": ({"index": 0, "records": b""}, {"index": 3, "records": b""}),
            },
        ),
    },
    "AddPartitionsToTxn": {
        **{f"v3_and_below_{name}": value for name, value in WHO.items()},
        "v3_and_below_topics": (PARTITIONS,),
        "transactions": ({**WHO, "topics": (PARTITIONS,)},),
    },
    "AddOffsetsToTxn": {**WHO, "group_id": "g"},
    "TxnOffsetCommit": {
        **WHO,
        "group_id": "g",
        "topics": ({"name": "x", "partitions": tuple({"partition_index": at, **COMMITTED} for at in (0, 3))},),
    },
    "EndTxn": {**WHO, "committed": True},
    "InitProducerId": {"transactional_id": "t", "transaction_timeout": 1000, "enable2_pc": False},
    "FindCoordinator": {"key": "t", "key_type": 1, "coordinator_keys": ("t", "u")},
    "JoinGroup": {
        "group_id": "g",
        "session_timeout": 1000,
        "rebalance_timeout": 1000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": (),
    },
    "SyncGroup": {"group_id": "g", "generation_id": 1, "member_id": "m"},
    "Heartbeat": {"group_id": "g", "generation_id": 1, "member_id": "m"},
    "OffsetFetch": {"group_id": "g", "topics": (TO_FETCH,), "groups": ({"group_id": "g", "topics": (TO_FETCH,)},)},
    "Metadata": {
        "topics": ({"name": "x", "topic_id": None},),
        "include_topic_authorized_operations": False,
        "include_cluster_authorized_operations": False,
    },
}


def lied(api: str, version: int, only: list[str] | None = None, **other: Any) -> tuple[LiedRequest, object]:
    """A request as it comes over the wire, and what the lie makes of it."""
    frame = encode(request(api, version, **{**EVERY[api], **other}), 9, "who")[4:]
    header = request_header(frame)
    body = read_request(frame, header)
    asked = LiedRequest(info=request_info(header, body), body=body, latest=LatestEpochs())
    return asked, refused_in_place(FENCED, only).request(asked)


def refused(api: str, version: int) -> dict[str, Json]:
    """The refusal as its client reads it; every error that stands deepest in it is the one that was asked for."""
    asked, made = lied(api, version)
    assert isinstance(made, LiedResponse)
    read = read_response(asked.info.header, write_response(asked.info.header, made.body))
    assert set(innermost_errors(read)) == {FENCED}
    return json_form(read)


@pytest.mark.parametrize(("api", "version"), [(api, version) for api in REFUSALS for version in known_versions(api)])
def test_every_version_of_an_api_is_refused_so_that_its_client_can_read_it(api: str, version: int) -> None:
    form = refused(api, version)
    assert form.get("throttle_time", 0) == 0


@pytest.mark.parametrize("version", [3, 8, 13])
def test_a_refused_produce_gives_no_offset(version: int) -> None:
    (topic,) = part_of(refused("Produce", version), "responses")
    parts = part_of(topic, "partition_responses")
    assert [part["index"] for part in parts] == [0, 3]
    for part in parts:
        assert (part["base_offset"], part["log_append_time"], part.get("log_start_offset", -1)) == (-1, -1, -1)


def part_of(form: Mapping[str, Json], name: str) -> list[dict[str, Json]]:
    """An array of a message."""
    found = form[name]
    assert isinstance(found, list)
    return [part for part in found if isinstance(part, dict)]


EXPECTED: list[tuple[str, int, dict[str, object]]] = [
    ("EndTxn", 1, {"throttle_time": 0, "error_code": FENCED}),
    ("EndTxn", 5, {"throttle_time": 0, "error_code": FENCED, "producer_id": -1, "producer_epoch": -1}),
    ("InitProducerId", 0, {"throttle_time": 0, "error_code": FENCED, "producer_id": -1, "producer_epoch": -1}),
    ("FindCoordinator", 0, {"error_code": FENCED, "node_id": -1, "host": "", "port": -1}),
    ("SyncGroup", 0, {"error_code": FENCED, "assignment": ""}),
    ("OffsetFetch", 2, {"topics": [], "error_code": FENCED}),
    (
        "OffsetFetch",
        8,
        {"throttle_time": 0, "groups": [{"group_id": "g", "topics": [], "error_code": FENCED}]},
    ),
    (
        "JoinGroup",
        0,
        {
            "error_code": FENCED,
            "generation_id": -1,
            "protocol_name": "",
            "leader": "",
            "member_id": "",
            "members": [],
        },
    ),
]


@pytest.mark.parametrize(("api", "version", "expected"), EXPECTED)
def test_a_refusal_has_the_shape_of_kafkas(api: str, version: int, expected: dict[str, object]) -> None:
    assert refused(api, version) == expected


def test_each_key_and_each_partition_is_refused() -> None:
    assert [row["key"] for row in part_of(refused("FindCoordinator", 6), "coordinators")] == ["t", "u"]
    below, above = refused("AddPartitionsToTxn", 3), refused("AddPartitionsToTxn", 5)
    parts = [{"partition_index": at, "partition_error_code": FENCED} for at in (0, 3)]
    topics = [{"name": "x", "results_by_partition": parts}]
    assert below["results_by_topic_v3_and_below"] == topics
    assert above["error_code"] == 0
    assert above["results_by_transaction"] == [{"transactional_id": "t", "topic_results": topics}]


@pytest.mark.parametrize(
    ("api", "named", "other"),
    [("Produce", "x-3", "x-1"), ("TxnOffsetCommit", "g", "h"), ("FindCoordinator", "t", "v")],
)
def test_only_requests_that_name_something_are_refused(api: str, named: str, other: str) -> None:
    assert isinstance(lied(api, 3, [named])[1], LiedResponse)
    asked, made = lied(api, 3, [other])
    assert made is asked.body


def test_what_has_no_answer_is_left_alone() -> None:
    asked, made = lied("Produce", 9, acks=0)
    assert made is asked.body


@contextmanager
def refusing(pair: GatePair, api: str, faults: list[Fault], wish: GateWish) -> Iterator[Gated]:
    """The lab's power over this gate."""
    power = RequestGate(open_gate=lambda: pair.gate, clock=RunClock())
    with power.on(pair.proxy, api=api, action="refuse", name="no", faults=faults, wish=wish) as gated:
        yield gated


def test_a_refused_request_never_comes_and_is_counted(pair: GatePair) -> None:
    pair.gate.watch("vic")
    client, noted = pair.call(), list[Fault]()
    wish: GateWish = {"error": FENCED, "client_id": "vic*", "skip": 1, "at_most": 2}
    with refusing(pair, "EndTxn", noted, wish) as gated:
        client.ask(1, end(), 3, client_id="other")
        for correlation in (2, 3, 4, 5):
            client.ask(correlation, end(), 5, client_id="victim")
        assert [client.answer() for _ in range(5)] == [(1, 0), (2, 0), (3, FENCED), (4, FENCED), (5, 0)]
        gated.wait(2)
    assert pair.broker.correlations == [1, 2, 5]
    assert [(strike.fate, strike.error, strike.delivered) for strike in noted[0].strikes] == [
        ("rewritten", FENCED, None)
    ] * 2
    assert (noted[0].action, noted[0].struck) == ("refuse", 2)
    wait.until(lambda: pair.gate.frames("vic")[-1].answered is not None, what="the log", timeout_seconds=PATIENCE)
    frames = pair.gate.frames("vic")
    pair.gate.unwatch("vic")
    assert [(frame.error, frame.answered_by) for frame in frames] == [
        (0, "broker"), (FENCED, "gate"), (FENCED, "gate"), (0, "broker"),
    ]  # fmt: skip
    assert frames[1].answer == {"producer_id": -1, "producer_epoch": -1}


def test_a_refusal_waits_for_the_answers_before_it(pair: GatePair) -> None:
    client, noted = pair.call(), list[Fault]()
    slow = on(pair, When(apis=("Produce",), at_most=1), Then(action="hold-response"))
    with refusing(pair, "EndTxn", noted, {"error": FENCED}):
        client.ask(1, produce(), 9)
        client.ask(2, end(), 3)
        client.ask(3, init(), 4)
        held(slow)
        assert client.silent()
        slow.off()
        assert [client.answer() for _ in range(3)] == [(1, 0), (2, FENCED), (3, 0)]


def test_a_refusal_waits_behind_a_held_request(pair: GatePair) -> None:
    client, noted = pair.call(), list[Fault]()
    before = on(pair, When(apis=("Produce",), at_most=1), Then(action="hold"))
    with refusing(pair, "EndTxn", noted, {"error": FENCED}):
        client.ask(1, produce(), 9)
        client.ask(2, end(), 3)
        held(before)
        assert client.silent()
        before.off()
        assert [client.answer() for _ in range(2)] == [(1, 0), (2, FENCED)]


def test_a_refusal_waits_for_no_answer_that_never_comes(pair: GatePair) -> None:
    client, noted = pair.call(), list[Fault]()
    unanswered = Produce(transactional_id="t", acks=0, batches=produce().batches)
    with refusing(pair, "Produce", noted, {"error": FENCED, "at_most": None}):
        with refusing(pair, "EndTxn", [], {"error": FENCED}):
            client.ask(1, unanswered, 9)
            client.ask(2, end(), 3)
            got = [client.answer(), client.answer()]
        assert (2, FENCED) in got
        assert answers(client, 0) == []
    assert noted[0].struck == 0


def test_what_never_comes_to_be_refused_is_no_situation(pair: GatePair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.lab.powers.request_gate.MET_SECONDS", 0.05)
    with refusing(pair, "EndTxn", [], {"error": FENCED}) as gated, pytest.raises(Unprepared, match="took 0 of 1"):
        gated.wait()


def test_a_refusal_waits_until_it_is_released(pair: GatePair) -> None:
    client, noted = pair.call(), list[Fault]()
    with refusing(pair, "EndTxn", noted, {"error": FENCED, "waits": True}) as gated:
        client.ask(1, end(), 5)
        gated.wait()
        client.ask(2, end(), 5)
        assert (gated.report().holding, pair.broker.correlations) == (1, [])
        gated.release()
        assert [client.answer() for _ in range(2)] == [(1, FENCED), (2, 0)]
    assert pair.broker.correlations == [2]
    (strike,) = noted[0].strikes
    assert (strike.fate, strike.error, strike.delivered) == ("rewritten", FENCED, None)
