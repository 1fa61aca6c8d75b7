"""The gate's log of a real client, librdkafka, on a real cluster, and a request of it that the gate refuses.

Needs Java.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer

from harness.base.kafka_error import KafkaError
from harness.evidence.client_evidence import Frame
from harness.faults.fault_target import FaultTarget
from harness.faults.frame_rule import Rule, Then, When
from suites.selfcheck.fixtures.live_clients import fault_target_with_topic

pytestmark = pytest.mark.live

TOPIC, WATCHED = "watched", "watched-app"
REFUSE = "harness.faults.gate.refused_in_place:refused_in_place"


@pytest.fixture(scope="module")
def fault_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultTarget]:
    """A cluster whose victim lane leads through the gate."""
    run_dir: Path = tmp_path_factory.mktemp("watched")
    with fault_target_with_topic("4.3.1", run_dir, TOPIC) as made:
        made.gate.intercept(*victim_lane(made))
        yield made


def victim_lane(fault_target: FaultTarget) -> tuple[str, ...]:
    """Its proxies."""
    return tuple(name for (lane, _), name in fault_target.cluster.topology.lane_proxies.items() if lane == "victim")


def transactional(fault_target: FaultTarget, client_id: str) -> Producer:
    """A producer with a transactional id of its own, on the victim lane."""
    made = Producer(
        {
            "bootstrap.servers": fault_target.cluster.topology.bootstrap("victim"),
            "client.id": client_id,
            "transactional.id": f"of-{client_id}",
            "linger.ms": 50,
        }
    )
    made.init_transactions(20)
    return made


def write(producer: Producer) -> None:
    """Three records to one partition, in a transaction that is left open."""
    producer.begin_transaction()
    for value in ("a", "b", "c"):
        producer.produce(TOPIC, value=value, partition=0)
    producer.flush(20)


def test_a_clients_transactions_are_logged_and_a_refused_end_is_the_gates(fault_target: FaultTarget) -> None:
    gate = fault_target.gate
    gate.watch("watched")
    unseen, watched = transactional(fault_target, "other-app"), transactional(fault_target, WATCHED)
    for producer in (unseen, watched):
        write(producer)
        producer.commit_transaction(20)
    write(watched)
    fenced = int(KafkaError.INVALID_PRODUCER_EPOCH)
    when = When(apis=("EndTxn",), client_ids=("watched*",), at_most=1)
    then = Then(action="lie", lie=REFUSE, with_={"error": fenced})
    handle = gate.add_rule(Rule(name="no", proxies=victim_lane(fault_target), when=when, then=then))
    with pytest.raises(KafkaException):
        watched.commit_transaction(20)
    assert handle.off().struck == 1
    frames = gate.frames("watched")
    gate.unwatch("watched")
    assert {frame.client_id for frame in frames} == {WATCHED}
    assert [frame.number for frame in frames] == list(range(1, len(frames) + 1))
    assert [(frame.error, frame.answered_by) for frame in of(frames, "EndTxn")][:2] == [(0, "broker"), (fenced, "gate")]
    (initialized, *_) = of(frames, "InitProducerId")
    produced = [batch for frame in of(frames, "Produce") for batch in frame.batches]
    assert sum(batch.count for batch in produced) == 6
    assert {(batch.topic, batch.partition, batch.transactional) for batch in produced} == {(TOPIC, 0, True)}
    assert {batch.producer_id for batch in produced} == {initialized.answer["producer_id"]}
    assert all(frame.request["partitions"] == [f"{TOPIC}-0"] for frame in of(frames, "AddPartitionsToTxn"))
    assert any("transaction.version" in str(frame.answer) for frame in of(frames, "ApiVersions"))
    assert {frame.node for frame in frames} <= {1, 2, 3}
    assert [frame for frame in frames if "unreadable" in (*frame.request, *frame.answer)] == []
    assert gate.errors() == ()


def of(frames: tuple[Frame, ...], api: str) -> list[Frame]:
    """Those of one API."""
    return [frame for frame in frames if frame.api == api]
