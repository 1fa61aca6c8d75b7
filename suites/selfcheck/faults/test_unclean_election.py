"""An unclean election on a made-up cluster: in which order it comes about, what counts as struck, what is undone."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError
from harness.base.unprepared import Unprepared
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.observer import observer_lane
from harness.faults.toxic import ClusterShape, StrikeCount
from harness.wire.requests.cluster.alter_partition_reassignments import AlterPartitionReassignments
from harness.wire.requests.cluster.elect_leaders import UNCLEAN, ElectLeaders
from toxics.process import unclean_election

SHAPE = ClusterShape(topics={"accounts": 1}, passing=("n-0", "n-1"), transactional_ids=("a", "b"))
CHOSEN: Mapping[str, Json] = {"topics": ["n-0", "n-1"], "rank": 1, "down_ms": 0}
PLACE = ("r-n-1", 0)
ENDS = {1: 40, 3: 2}
"""Of the log of the partition at its leader, and at the replica that is elected."""


@dataclass
class OnePartition:
    """With three replicas, led by broker 1, and two transactions that have it.

    :param refused: What the controller answers to the election. :param ended: Transactions that end meanwhile.
    :param resting: Ids without a transaction. :param asked_late: Which were asked while nobody led.
    """

    refused: int = 0
    ended: Sequence[str] = ()
    resting: Sequence[str] = ()
    asked_late: list[str] = field(default_factory=list)
    brokers: tuple[int, ...] = (1, 2, 3)
    replicas: tuple[int, ...] = (1, 2, 3)
    isr: tuple[int, ...] = (1, 2, 3)
    leader_id: int = 1
    cut: str = ""
    did: list[str] = field(default_factory=list)

    def at_coordinator(self, name: str, _request: object, *, timeout_seconds: float) -> SimpleNamespace:  # noqa: ARG002
        late = self.leader_id < 0
        self.asked_late += [name] if late else []
        over = name in self.resting or (name in self.ended and late)
        state = "CompleteCommit" if over else "Ongoing"
        return SimpleNamespace(state=state, producer_id=7, start_time_ms=9, partitions=["r-accounts-0", "r-n-1-0"])

    def close(self) -> None:
        self.did.append("close")

    def partition(self, *place: object) -> Mapping[str, Any]:
        assert place == PLACE
        return {"leader": self.leader_id, "replicas": self.replicas, "isr": self.isr}

    def leader(self, *place: object) -> int | None:
        led = self.partition(*place)["leader"]
        return led if led >= 0 else None

    def in_sync(self, *place: object) -> tuple[int, ...]:
        return tuple(self.partition(*place)["isr"])

    def replicated(self) -> bool:
        return True

    def to_controller(self, request: AlterPartitionReassignments | ElectLeaders) -> SimpleNamespace:
        if isinstance(request, ElectLeaders):
            assert (request.election_type, request.partitions, self.leader_id) == (UNCLEAN, (PLACE,), -1)
            self.did.append("elect")
            self.leader_id = -1 if self.refused else 3
            return SimpleNamespace(error=self.refused)
        self.replicas = request.replicas[PLACE] or ()
        self.isr = tuple(node for node in self.isr if node in self.replicas)
        self.did.append(f"replicas {' '.join(map(str, self.replicas))}, cut {self.cut or 'nothing'}")
        return SimpleNamespace(error=0)

    def kill(self, node: int) -> None:
        self.did.append(f"kill {node}, cut {self.cut}")
        self.leader_id = -1

    def restart(self, node: int) -> None:
        self.did.append(f"restart {node}")

    @contextmanager
    def without(self, _target: object, proxies: Sequence[str]) -> Iterator[None]:
        (self.cut,) = proxies
        try:
            yield
        finally:
            self.cut = ""


def electing(cluster: OnePartition, monkeypatch: pytest.MonkeyPatch) -> AbstractContextManager[StrikeCount]:
    monkeypatch.setattr(observer_lane, "LeaderClient", SimpleNamespace(over=lambda *_, **__: cluster))
    monkeypatch.setattr(unclean_election, "can_kill", lambda _target: cluster)
    monkeypatch.setattr(unclean_election, "with_connections_cut", cluster.without)
    monkeypatch.setattr(
        unclean_election, "await_recovery", lambda _target, node, _: cluster.did.append(f"await {node}")
    )
    ends = SimpleNamespace(end=lambda place, leader: ENDS[leader] if place == PLACE else None)
    monkeypatch.setattr(unclean_election, "Topics", lambda _any: ends)
    target = SimpleNamespace(
        cluster=SimpleNamespace(topology=SimpleNamespace(lanes={"observer": {}}, secured=lambda _lane: None)),
        clock=SimpleNamespace(now=lambda: 5.0),
        client=None,
        topics={"accounts": "r-accounts", "n-0": "r-n-0", "n-1": "r-n-1"},
        transactional_ids={"a": "a", "b": "b"},
        **{name: getattr(cluster, name) for name in ("brokers", "partition", "leader", "in_sync", "replicated")},
        to_controller=cluster.to_controller,
    )
    return unclean_election.TOXIC.strike(cast(FaultTarget, target), CHOSEN)


def test_an_empty_replica_comes_to_lead_and_everything_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = OnePartition()
    with electing(cluster, monkeypatch) as strikes:
        assert (cluster.leader_id, cluster.cut) == (3, "")
    assert cluster.did == [
        "replicas 1, cut link-3-1",
        "replicas 1 3, cut link-3-1",
        "kill 1, cut link-3-1",
        "elect",
        "restart 1",
        "await 1",
        "replicas 1 2 3, cut nothing",
        "close",
    ]
    assert (strikes.where, strikes.struck, strikes.moved, strikes.moment) == ("r-n-1-0", 2, None, (5.0, 5.0))
    told = "2 of 40 records and markers are left on broker 3, which leads; transactions open on it: a, b"
    assert strikes.how == told


def test_a_transaction_that_ended_before_is_not_struck(monkeypatch: pytest.MonkeyPatch) -> None:
    with electing(OnePartition(ended=("a",)), monkeypatch) as strikes:
        assert (strikes.struck, strikes.how.rpartition(": ")[2]) == (1, "b")


def test_only_ids_that_had_a_transaction_are_asked_while_nobody_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = OnePartition(resting=("a",))
    with electing(cluster, monkeypatch) as strikes:
        assert (strikes.struck, cluster.asked_late) == (1, ["b"])


def test_where_the_election_is_refused_the_leader_comes_back_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = OnePartition(refused=KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE)
    with pytest.raises(Unprepared, match="ELIGIBLE_LEADERS_NOT_AVAILABLE"):
        electing(cluster, monkeypatch).__enter__()
    assert cluster.did[-4:] == ["restart 1", "await 1", "replicas 1 2 3, cut nothing", "close"]


def test_a_target_whose_brokers_are_not_ours_is_left_alone() -> None:
    target = SimpleNamespace(cluster=SimpleNamespace(backend="external"))
    with pytest.raises(Powerless, match="cannot kill"):
        unclean_election.TOXIC.strike(cast(FaultTarget, target), CHOSEN).__enter__()


def test_a_draw_orders_the_topics_that_may_lose_records() -> None:
    drawn = [unclean_election.TOXIC.draw(SHAPE, Random(seed)) for seed in range(20)]
    assert {tuple(cast(list[str], each["topics"])) for each in drawn} == {("n-0", "n-1"), ("n-1", "n-0")}
    assert {each["rank"] for each in drawn} == {0, 1}
