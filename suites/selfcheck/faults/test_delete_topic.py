"""The deletion of a topic under transactions, on made-up coordinators: which topic it is, and what counts as struck."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import cast

import pytest

from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError
from harness.base.unprepared import Unprepared
from harness.faults.fault_target import FaultTarget
from harness.faults.observer import observer_lane, open_transactions
from harness.faults.toxic import ClusterShape, StrikeCount
from harness.kafka.leader_client import Unreachable
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from toxics.coordinator import delete_topic

SHAPE = ClusterShape(topics={"accounts": 1}, passing=("n-0", "n-1"), transactional_ids=("a", "b", "c"))
CHOSEN: Mapping[str, Json] = {"topics": ["n-0", "n-1"]}


@dataclass
class Transaction:
    """Of one id, as its coordinator describes it."""

    partitions: Sequence[str]
    state: str = "Ongoing"
    producer_id: int = 7
    start_time_ms: int = 100
    silent: bool = False


@dataclass
class OpenAndDeleted:
    """Before the deletion and after it; :param refused: What the controller answers to it."""

    before: Mapping[str, Transaction]
    after: Mapping[str, Transaction]
    refused: int = 0
    known_still: bool = False
    deleted: list[str] = field(default_factory=list)
    closed: int = 0
    clock: RunClock = field(default_factory=RunClock)
    deleted_at: float = 0.0

    def at_coordinator(self, name: str, _request: DescribeTransactions, *, timeout_seconds: float) -> Transaction:  # noqa: ARG002
        told = (self.after if self.deleted else self.before)[name]
        if told.silent:
            raise Unreachable(f"nobody tells of {name}")
        return told

    def close(self) -> None:
        self.closed += 1

    def delete(self, names: Sequence[str]) -> Mapping[str, int]:
        self.deleted += names
        self.deleted_at = self.clock.now()
        return dict.fromkeys(names, self.refused) if self.refused else {}

    def await_gone(self, _name: str) -> bool:
        return not self.known_still


def deleting(kafka: OpenAndDeleted, monkeypatch: pytest.MonkeyPatch) -> AbstractContextManager[StrikeCount]:
    monkeypatch.setattr(observer_lane, "LeaderClient", SimpleNamespace(over=lambda *_, **__: kafka))
    monkeypatch.setattr(delete_topic, "Topics", lambda _cluster: kafka)
    monkeypatch.setattr(delete_topic, "AnyBroker", lambda *_: None)
    monkeypatch.setattr(open_transactions, "OPEN_SECONDS", 0)
    topology = SimpleNamespace(lanes={"observer": {}}, secured=lambda _lane: None)
    target = SimpleNamespace(
        cluster=SimpleNamespace(topology=topology),
        clock=kafka.clock,
        client=None,
        brokers=(1,),
        topics={"accounts": "r-accounts", "n-0": "r-n-0", "n-1": "r-n-1"},
        transactional_ids={name: name for name in kafka.before},
    )
    return delete_topic.TOXIC.strike(cast(FaultTarget, target), CHOSEN)


OPEN = {
    "a": Transaction(("r-accounts-0", "r-n-0-1")),
    "b": Transaction(("r-n-1-0",)),
    "c": Transaction(("r-n-1-1",), state="PrepareCommit"),
}


def test_the_topic_that_most_open_transactions_have_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = OpenAndDeleted(before=OPEN, after=OPEN)
    with deleting(kafka, monkeypatch) as strikes:
        assert (kafka.deleted, kafka.closed) == (["r-n-1"], 1)
    assert (strikes.where, strikes.struck, strikes.moved) == ("r-n-1", 2, ())
    assert strikes.how == "transactions open on it when it was gone: b, c"
    assert strikes.moment is not None
    assert strikes.moment[0] <= kafka.deleted_at <= strikes.moment[1]


@pytest.mark.parametrize(
    "later",
    [
        Transaction(("r-n-1-1",), state="CompleteCommit"),
        Transaction(("r-n-1-1",), start_time_ms=200),
        Transaction(("r-n-1-1",), producer_id=8),
        Transaction(("r-accounts-0",)),
        Transaction(("r-n-1-1",), silent=True),
    ],
)
def test_what_ended_before_the_topic_was_gone_is_not_struck(
    later: Transaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    with deleting(OpenAndDeleted(before=OPEN, after={**OPEN, "c": later}), monkeypatch) as strikes:
        assert strikes.struck == 1


def test_a_transaction_that_got_more_partitions_meanwhile_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    more = Transaction(("r-n-1-1", "r-accounts-0"))
    with deleting(OpenAndDeleted(before=OPEN, after={**OPEN, "c": more}), monkeypatch) as strikes:
        assert strikes.struck == 2


def test_where_nothing_is_open_on_such_a_topic_nothing_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = OpenAndDeleted(before={"a": Transaction(("r-accounts-0",))}, after={})
    with pytest.raises(Unprepared, match="open on one of 2 topics"):
        deleting(kafka, monkeypatch).__enter__()
    assert (kafka.deleted, kafka.closed) == ([], 1)


@pytest.mark.parametrize(
    ("kafka", "why"),
    [
        (OpenAndDeleted(before=OPEN, after=OPEN, refused=KafkaError.TOPIC_DELETION_DISABLED), "DELETION_DISABLED"),
        (OpenAndDeleted(before=OPEN, after=OPEN, known_still=True), "still knows r-n-1"),
    ],
)
def test_a_topic_that_stays_is_an_error(kafka: OpenAndDeleted, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unprepared, match=why):
        deleting(kafka, monkeypatch).__enter__()
    assert kafka.closed == 1


def test_a_draw_orders_the_topics_that_may_be_deleted() -> None:
    drawn = {tuple(cast(list[str], delete_topic.TOXIC.draw(SHAPE, Random(seed))["topics"])) for seed in range(20)}
    assert drawn == {("n-0", "n-1"), ("n-1", "n-0")}
