"""The state of a held request's id, told by whichever broker coordinates it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import cast

import pytest

from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.chaos.moments.told_state import ANSWER_SECONDS, told_state
from harness.faults.fault_target import FaultTarget
from harness.faults.frame_rule import Strike
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import NoAnswer


@dataclass(frozen=True, slots=True)
class FakeBrokers:
    """Answers of brokers by node; a node without one does not answer."""

    answers: Mapping[int, object]
    asked: list[int] = field(default_factory=list)

    def call(self, node: int, _request: object, *, timeout_seconds: float) -> object:
        assert timeout_seconds == ANSWER_SECONDS
        self.asked.append(node)
        if node not in self.answers:
            raise NoAnswer("it is away")
        return SimpleNamespace(result=self.answers[node])


def target(coordinators: FakeBrokers) -> FaultTarget:
    cluster = SimpleNamespace(topology=SimpleNamespace(brokers=(1, 2, 3)), links=None)
    return FaultTarget(cluster=cluster, clock=RunClock(), client=cast(WireClient, coordinators), topics={})


def described(error: int, state: str = "") -> object:
    return SimpleNamespace(error=error, state=state)


@pytest.mark.parametrize(
    ("answers", "first", "state", "asked"),
    [
        ({1: described(KafkaError.NOT_COORDINATOR), 2: described(0, "Ongoing")}, None, "Ongoing", [1, 2]),
        ({1: described(KafkaError.NOT_COORDINATOR), 2: described(0, "Ongoing")}, 2, "Ongoing", [2]),
        ({2: described(KafkaError.TRANSACTIONAL_ID_NOT_FOUND)}, 3, "unknown", [3, 1, 2]),
        ({3: described(KafkaError.COORDINATOR_LOAD_IN_PROGRESS)}, None, None, [1, 2, 3]),
    ],
)
def test_the_coordinator_among_the_brokers_tells_the_state(
    answers: Mapping[int, object], first: int | None, state: str | None, asked: list[int]
) -> None:
    at, cluster = Strike(proxy="p", api="EndTxn", version=1, fate="held", at_ns=0), FakeBrokers(answers)
    given = target(cluster)
    assert told_state(replace(at, transactional_ids=("teller",)), given, first) == state
    assert cluster.asked == asked
    assert told_state(at, given) is None  # neither id nor producer id


def test_markers_name_a_producer_id_which_the_coordinator_lists() -> None:
    markers = Strike(proxy="p", api="WriteTxnMarkers", version=1, fate="held", at_ns=0, producer_id=7)
    listed = [SimpleNamespace(transactions=each) for each in ([], [{"state": "PrepareAbort"}])]
    cluster = FakeBrokers(dict(enumerate(listed, start=1)))
    assert told_state(markers, target(cluster)) == "PrepareAbort"
