"""The gate's log of a client: what it sent, what became of it, and that nobody else is looked at."""

import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

import pytest

from harness.base import wait
from harness.evidence.client_evidence import Frame, ProducedBatch
from harness.faults.frame_gate import GateFailed
from harness.faults.frame_rule import Then, When
from harness.faults.gate.rulebook import Rulebook
from harness.faults.gate.watch import client_watch
from harness.faults.gate.watch.client_watch import ClientWatch
from harness.wire.codec.request_builder import request
from harness.wire.frame_codec import RequestHeader, make_response, write_response
from harness.wire.frames import encode
from harness.wire.records.record_batch import NewBatch
from harness.wire.requests.log.produce import PartitionBatch, Produce
from suites.selfcheck.fixtures.gate_pair import (
    ANY,
    PATIENCE,
    GatePair,
    RunningGate,
    answers,
    end,
    gate_pair,
    held,
    init,
    on,
    produce,
)

pytest_plugins = ("suites.selfcheck.fixtures.gate_pair",)

TOPIC_ID = UUID(int=5)
UNKNOWN_VERSION = 99


@dataclass(frozen=True)
class AnyRequest:
    """A request of any API."""

    name: str
    fields: dict[str, Any]
    api: ClassVar[str] = ""

    def build(self, version: int) -> Any:
        """In that version's schema."""
        return request(self.name, version, **self.fields)

    def read(self, _response: object) -> Any:
        """Nobody asks."""
        raise NotImplementedError


def known(head: RequestHeader) -> bytes | int:
    """Answers that hand something out."""
    match head.api:
        case "ApiVersions":
            level = {"name": "transaction.version", "max_version_level": 2, "min_version_level": 2}
            fields: dict[str, object] = {"finalized_features": (level,), "finalized_features_epoch": 9}
        case "Metadata":
            fields = {"topics": ({"name": "x", "topic_id": TOPIC_ID},), "cluster_id": "c"}
        case "FindCoordinator":
            fields = {"host": "h", "coordinators": ()}
        case _ if head.version == UNKNOWN_VERSION:
            return struct.pack(">i", head.correlation) + b"?"
        case _:
            return 0
    return write_response(head, make_response(head, **fields))


@pytest.fixture(autouse=True)
def unwatched(gate_process: RunningGate) -> Iterator[None]:
    """No test watches for another."""
    yield
    gate_process[0].unwatch("wat")


def logged(pair: GatePair, count: int, prefix: str = "wat") -> tuple[Frame, ...]:
    """The log, once that many were answered; an answer is noted after it was written."""
    wait.until(
        lambda: sum(frame.answered is not None for frame in pair.gate.frames(prefix)) == count,
        what="the log",
        timeout_seconds=PATIENCE,
    )
    return pair.gate.frames(prefix)


def two_batches(topic_id: UUID | None = None) -> Produce:
    """Produce of three records and of one, to two partitions."""
    batches = (
        PartitionBatch(
            topic="x",
            topic_id=topic_id,
            partition=partition,
            batch=NewBatch(values=("v",) * count, producer_id=7, producer_epoch=2, base_sequence=sequence),
        )
        for partition, count, sequence in ((0, 3, 4), (1, 1, 0))
    )
    return Produce(transactional_id="t", batches=tuple(batches))


def test_a_watched_client_is_logged_and_no_other(pair: GatePair) -> None:
    before = time.monotonic_ns() / 1e6
    pair.gate.watch("wat")
    client, other = pair.call(), pair.call()
    other.ask(1, end(), 3, client_id="else")
    client.ask(1, end(), 3, client_id="watched-1")
    client.ask(2, init("u"), 4, client_id="watched-1")
    assert (answers(client, 2), answers(other, 1)) == ([1, 2], [1])
    first, second = logged(pair, 2)
    assert (first.number, first.api, first.version, first.client_id) == (1, "EndTxn", 3, "watched-1")
    assert (first.transactional_ids, first.producer_id, first.epoch) == (("t",), 7, 0)
    assert (first.errors, first.error, first.answered_by, first.answer) == ((0,), 0, "broker", {})
    assert first.request["committed"] is True
    assert first.answered is not None
    assert before <= first.at <= first.answered <= time.monotonic_ns() / 1e6
    assert (second.number, second.connection, second.node) == (2, first.connection, first.node)
    assert first.node == int(pair.proxy.rpartition("-")[2])
    assert second.answer == {"producer_id": 7, "producer_epoch": 9}
    assert second.request["transaction_timeout_ms"] == init().timeout_ms
    assert pair.gate.frames("watched-1") == (first, second)
    assert pair.gate.frames("watched-2") == ()
    pair.gate.unwatch("wat")
    with pytest.raises(GateFailed, match="cannot frames"):
        pair.gate.frames("wat")


@pytest.mark.parametrize("version", [9, 13])
def test_the_batches_of_a_produce_are_logged(gate_process: RunningGate, version: int) -> None:
    with gate_pair(*gate_process, known) as pair:
        pair.gate.watch("wat")
        client = pair.call()
        client.ask(1, two_batches(TOPIC_ID), 13, client_id="watched")
        client.ask(2, AnyRequest("Metadata", {"include_topic_authorized_operations": False}), 12, client_id="watched")
        client.ask(3, end(), 3, client_id="watched")
        assert answers(client, 3) == [1, 2, 3]
        client.ask(4, two_batches(TOPIC_ID), version, client_id="watched")
        unnamed, _, _, produced = logged(pair, 4)
        assert {batch.topic for batch in unnamed.batches} == {str(TOPIC_ID)}
        assert produced.request == {}
        assert produced.batches == tuple(
            ProducedBatch(topic="x", partition=at, producer_id=7, epoch=2, base_sequence=sequence, count=count)
            for at, sequence, count in ((0, 4, 3), (1, 0, 1))
        )


@pytest.mark.parametrize(("version", "handed_out"), [(1, {}), (5, {"producer_id": 7, "producer_epoch": 3})])
def test_an_end_hands_out_an_identity_from_v5_on(pair: GatePair, version: int, handed_out: dict[str, int]) -> None:
    pair.gate.watch("wat")
    client = pair.call()
    client.ask(1, end(committed=False), version, client_id="wat")
    assert answers(client, 1) == [1]
    (frame,) = logged(pair, 1)
    assert (frame.request["committed"], frame.answer) == (False, handed_out)


def test_finalized_features_are_logged(gate_process: RunningGate) -> None:
    with gate_pair(*gate_process, known) as pair:
        pair.gate.watch("wat")
        client = pair.call()
        for version in (0, 3, 4):
            names = {"client_software_name": "c", "client_software_version": "1"}
            client.ask(version, AnyRequest("ApiVersions", names), version, client_id="wat")
        assert answers(client, 3) == [0, 3, 4]
        features = {"finalized_features": {"transaction.version": 2}, "finalized_features_epoch": 9}
        assert [frame.answer for frame in logged(pair, 3)] == [{}, features, features]


@pytest.mark.parametrize(
    ("asked", "version", "expected"),
    [
        (
            AnyRequest(
                "AddPartitionsToTxn",
                {
                    "v3_and_below_transactional_id": "t",
                    "v3_and_below_producer_id": 1,
                    "v3_and_below_producer_epoch": 0,
                    "v3_and_below_topics": ({"name": "x", "partitions": (0, 2)},),
                },
            ),
            3,
            {"partitions": ["x-0", "x-2"]},
        ),
        (
            AnyRequest(
                "TxnOffsetCommit",
                {
                    "transactional_id": "t",
                    "group_id": "g",
                    "producer_id": 1,
                    "producer_epoch": 0,
                    "generation_id": 4,
                    "member_id": "m",
                    "topics": (
                        {
                            "name": "x",
                            "partitions": ({"partition_index": 1, "committed_offset": 5, "committed_metadata": ""},),
                        },
                    ),
                },
            ),
            3,
            {
                "group_id": "g",
                "producer_id": 1,
                "producer_epoch": 0,
                "generation_id": 4,
                "member_id": "m",
                "group_instance_id": None,
                "partitions": ["x-1"],
                "offsets": {"x-1": 5},
            },
        ),
        (AnyRequest("FindCoordinator", {"key": "t", "key_type": 1}), 3, {"key": "t", "key_type": 1}),
        (AnyRequest("FindCoordinator", {"coordinator_keys": ("t",), "key_type": 1}), 4, {"keys": ["t"], "key_type": 1}),
    ],
)
def test_key_fields_of_a_request_are_logged(
    gate_process: RunningGate, asked: AnyRequest, version: int, expected: dict[str, object]
) -> None:
    with gate_pair(*gate_process, known) as pair:
        pair.gate.watch("wat")
        pair.call().ask(1, asked, version, client_id="wat")
        (frame,) = logged(pair, 1)
        assert (frame.request, frame.answered_by) == (expected, "broker")


def test_a_dropped_answer_and_a_dropped_request_were_not_answered(pair: GatePair) -> None:
    pair.gate.watch("wat")
    client = pair.call()
    on(pair, When(apis=("EndTxn",), at_most=1), Then(action="drop-response"))
    on(pair, When(apis=("InitProducerId",), at_most=1), Then(action="drop-request"))
    for correlation, verb in enumerate((end(), init(), produce())):
        client.ask(correlation, verb, 4, client_id="wat")  # type: ignore[arg-type]
    assert client.answer() == (2, 0)
    *lost, answered = logged(pair, 1)
    assert [(frame.answered, frame.errors, frame.error, frame.answered_by) for frame in lost] == [
        (None, (), None, "")
    ] * 2
    assert answered.answered_by == "broker"


def test_a_held_answer_is_answered_when_it_is_sent(pair: GatePair) -> None:
    pair.gate.watch("wat")
    client = pair.call()
    handle = on(pair, ANY, Then(action="hold-response"))
    client.ask(1, end(), 3, client_id="wat")
    held(handle)
    (waiting,) = pair.gate.frames("wat")
    assert waiting.answered is None
    released = time.monotonic_ns() / 1e6
    handle.off()
    (sent,) = logged(pair, 1)
    assert sent.answered is not None
    assert sent.answered >= released
    assert sent.answered_by == "broker"


def test_a_repeated_request_is_one_frame(pair: GatePair) -> None:
    pair.gate.watch("wat")
    client = pair.call()
    on(pair, ANY, Then(action="repeat"))
    client.ask(1, end(), 3, client_id="wat")
    assert client.answer() == (1, 0)
    assert len(logged(pair, 1)) == 1


def test_a_rewritten_answer_is_the_gates_and_has_the_clients_error(pair: GatePair) -> None:
    pair.gate.watch("wat")
    client = pair.call()
    lie = "harness.faults.gate.rewritten_answer:rewritten_answer"
    on(pair, When(apis=("EndTxn",), at_most=1), Then(action="lie", lie=lie, with_={"error": 51}))
    client.ask(1, end(), 3, client_id="wat")
    client.ask(2, end(), 3, client_id="wat")
    assert answers(client, 2) == [1, 2]
    assert [(frame.error, frame.answered_by) for frame in logged(pair, 2)] == [(51, "gate"), (0, "broker")]


def test_what_cannot_be_decoded_is_logged_with_its_version(gate_process: RunningGate) -> None:
    with gate_pair(*gate_process, known) as pair:
        pair.gate.watch("wat")
        client = pair.call()
        raw = struct.pack(">hhih", 26, UNKNOWN_VERSION, 1, 3) + b"wat" + b"garbage"
        client.connected.sendall(struct.pack(">i", len(raw)) + raw)
        (frame,) = logged(pair, 1)
        assert (frame.api, frame.version, frame.errors) == ("EndTxn", UNKNOWN_VERSION, ())
        assert "v99 cannot be read" in str(frame.request["unreadable"])
        assert "unreadable" in frame.answer


def test_a_log_is_bounded_and_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_watch, "FRAMES_KEPT", 2)
    watch = ClientWatch()
    watch.begin(["wat"])
    raw = encode(end().build(3), 1, "watched")
    for _ in range(5):
        assert watch.log(raw, 1, 1) is not None
    assert [frame.number for frame in watch.frames(["wat"])] == [1, 2]
    (sentence,) = watch.errors()
    assert "3 of their requests are missing" in sentence
    watch.end(["wat"])
    assert watch.errors() == [sentence]


def test_nothing_is_decoded_of_clients_that_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, raw = ClientWatch(), encode(end().build(3), 1, "wa")
    assert Rulebook().match("lane-victim-1", raw) is None
    watch.begin(["watched"])
    monkeypatch.setattr(client_watch, "request_header", None)
    assert watch.log(raw, 1, 1) is None


def test_a_rule_takes_the_requests_of_a_client(pair: GatePair) -> None:
    client = pair.call()
    names = ("EndTxn", "InitProducerId", "ApiVersions")
    handle = on(pair, When(apis=names, client_ids=("one", "vic*")), Then(action="repeat"))
    asked = {
        1: (end(), 3, "one"),
        2: (end(), 3, "one-more"),
        3: (init(), 4, "victim"),
        4: (AnyRequest("ApiVersions", {"client_software_name": "c", "client_software_version": "1"}), 3, "vic"),
        5: (AnyRequest("ApiVersions", {}), 0, "other"),
    }
    for correlation, (verb, version, client_id) in asked.items():
        client.ask(correlation, verb, version, client_id=client_id)  # type: ignore[arg-type]
    assert answers(client, 5) == [1, 2, 3, 4, 5]
    assert [strike.api for strike in handle.off().strikes] == ["EndTxn", "InitProducerId", "ApiVersions"]
