"""Faults of single nodes, on clusters that only take notes: what is done in which order, and what counts as struck."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import pytest

from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.unprepared import Unprepared
from harness.base.wait import TimedOut
from harness.faults.brokers import broker_restart
from harness.faults.brokers.broker_restart import BrokerRestart
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.toxic import ClusterShape, StrikeCount, Toxic
from harness.wire.requests.cluster.describe_quorum import DescribeQuorumResult
from harness.wire.wire_errors import NoAnswer
from toxics.process import clock_jump, kill_controller, pause, pause_fenced, slow_disk

SHAPE = ClusterShape(topics={"t": 1}, transactional_ids=("a",))
RULED = [slow_disk.TOXIC, clock_jump.TOXIC]


@dataclass
class Noting:
    """A cluster that notes what is done to its nodes.

    :param entered: Rules whose place is come to. :param broken: What Byteman says of a rule.
    :param leaders: Who leads the quorum, one answer after the other; the last one stays. :param behind: How often a
        controller that came back is seen without the newest record.
    """

    entered: frozenset[str] = frozenset()
    broken: str = ""
    leaders: list[int] = field(default_factory=lambda: [4, 4, -1, 11])
    behind: int = 2
    controllers: tuple[int, ...] = (4, 11, 12)
    fenced: bool = False
    notes: list[str] = field(default_factory=list)
    backend: str = "noting"

    @property
    def topology(self) -> Any:
        return type("Topology", (), {"controllers": self.controllers})

    def load_rules_into(self, node: int, rules: str) -> None:
        self.notes.append(f"{node} {rules}")
        if self.broken:
            raise RuntimeError(self.broken)

    def unload_rules_from(self, node: int, rules: str) -> frozenset[str]:
        assert f"{node} {rules}" in self.notes
        self.notes.append(f"{node} unloaded")
        return self.entered

    def kill(self, node: int) -> None:
        self.notes.append(f"{node} killed")

    def restart(self, node: int) -> None:
        self.notes.append(f"{node} restarted")

    def pause(self, node: int) -> None:
        self.notes.append(f"{node} paused")

    def resume(self, node: int) -> None:
        self.notes.append(f"{node} resumed")

    def quorum(self) -> DescribeQuorumResult:
        leader = self.leaders.pop(0) if len(self.leaders) > 1 else self.leaders[0]
        behind, self.behind = self.behind, max(0, self.behind - ("4 restarted" in self.notes))
        return DescribeQuorumResult(error=0, error_message=None, leader=leader, voters={4: 9 - behind, 11: 9})


@dataclass
class Unanswered:
    """A request to a broker that stands still; it is answered once the broker goes on."""

    cluster: Noting

    def wait(self, _seconds: float) -> None:
        if "2 resumed" not in self.cluster.notes:
            raise NoAnswer("silence")

    def done(self) -> bool:
        return False


def target(cluster: Any) -> FaultTarget:
    """What the toxics ask of a target, answered at once."""

    class NotingClient:
        def highest(self, _node: int, _api: str) -> int:
            return 0

        def send(self, _node: int, _request: object, _version: int) -> Unanswered:
            return Unanswered(cluster)

    class NotingTarget:
        client, clock = NotingClient(), RunClock()

        def __init__(self) -> None:
            self.cluster = cluster

        def answers(self, _node: int) -> bool:
            return False

        def dropped(self, _node: int) -> bool:
            return bool(cluster.fenced)

        def to_controller(self, _request: object) -> DescribeQuorumResult:
            quorum: DescribeQuorumResult = cluster.quorum()
            return quorum

    return cast(FaultTarget, NotingTarget())


def strike(toxic: Toxic, cluster: Any, chosen: Mapping[str, Json]) -> AbstractContextManager[StrikeCount]:
    return toxic.strike(target(cluster), chosen)


@pytest.mark.parametrize("toxic", RULED, ids=lambda toxic: toxic.name)
def test_rules_are_in_one_broker_for_the_block_and_count_where_they_were_come_to(toxic: Toxic) -> None:
    cluster = Noting(entered=frozenset({"one", "other"}))
    chosen = {**toxic.draw(SHAPE, Random(1)), "broker": 2}
    with strike(toxic, cluster, chosen) as strikes:
        assert len(cluster.notes) == 1
        assert cluster.notes[0].startswith("2 RULE ")
    assert cluster.notes[1:] == ["2 unloaded"]
    assert strikes.struck == 2
    assert strikes.how.endswith(": one, other")


@pytest.mark.parametrize("toxic", RULED, ids=lambda toxic: toxic.name)
def test_rules_that_were_never_come_to_have_not_struck(toxic: Toxic) -> None:
    with strike(toxic, Noting(), toxic.draw(SHAPE, Random(1))) as strikes:
        pass
    assert strikes.struck == 0


def test_rules_are_taken_out_after_an_error_and_a_rule_that_does_not_apply_is_one() -> None:
    cluster = Noting()
    with pytest.raises(ZeroDivisionError), strike(slow_disk.TOXIC, cluster, slow_disk.TOXIC.draw(SHAPE, Random(1))):
        raise ZeroDivisionError
    assert cluster.notes[-1].endswith("unloaded")
    refused = strike(slow_disk.TOXIC, Noting(broken="no such class"), slow_disk.TOXIC.draw(SHAPE, Random(1)))
    with pytest.raises(RuntimeError, match="no such class"):
        refused.__enter__()


def test_a_clock_may_be_ahead_or_behind() -> None:
    drawn = [clock_jump.TOXIC.draw(SHAPE, Random(seed))["ahead_ms"] for seed in range(20)]
    assert min(cast(list[int], drawn)) < 0 < max(cast(list[int], drawn))
    assert "return $! + 1500" in clock_jump.TOXIC.rules({"ahead_ms": 1_500})
    assert "return $! - 1500" in clock_jump.TOXIC.rules({"ahead_ms": -1_500})


@pytest.mark.parametrize("toxic", [*RULED, pause_fenced.TOXIC, kill_controller.TOXIC], ids=lambda toxic: toxic.name)
def test_a_cluster_without_the_power_is_named(toxic: Toxic) -> None:
    with pytest.raises(Powerless, match="the external backend"):
        strike(toxic, type("External", (), {"backend": "external"})(), toxic.draw(SHAPE, Random(1))).__enter__()


@pytest.fixture
def _recovered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pause, "await_recovery", lambda *_: None)


@pytest.mark.parametrize(("fenced", "struck"), [(True, 1), (False, 0)])
@pytest.mark.usefixtures("_recovered")
def test_a_pause_that_is_to_outlast_the_session_counts_when_the_broker_was_fenced(fenced: bool, struck: int) -> None:
    cluster = Noting(fenced=fenced)
    with strike(pause_fenced.TOXIC, cluster, {"broker": 2, "still_ms": 60_000}) as strikes:
        pass
    assert cluster.notes == ["2 paused", "2 resumed"]
    assert strikes.struck == struck
    assert ("it was fenced" in strikes.how) == fenced


@pytest.mark.usefixtures("_recovered")
def test_any_other_pause_counts_either_way() -> None:
    with strike(pause.TOXIC, Noting(), {"broker": 2, "still_ms": 60_000}) as strikes:
        pass
    assert strikes.struck == 1


def test_the_active_controller_is_killed_and_comes_back_with_the_log_once_another_leads() -> None:
    cluster = Noting()
    with strike(kill_controller.TOXIC, cluster, {"down_ms": 0}) as strikes:
        assert strikes.struck == 1
    assert cluster.notes == ["4 killed", "4 restarted"]
    assert cluster.behind == 0
    assert (strikes.where, strikes.how.rpartition(": ")[2]) == ("controller-4", "4 → 11")


def test_a_controller_without_others_or_without_a_name_is_not_killed() -> None:
    for cluster, error in ((Noting(controllers=(4,)), Powerless), (Noting(leaders=[-1]), Unprepared)):
        with pytest.raises(error):
            strike(kill_controller.TOXIC, cluster, {"down_ms": 0}).__enter__()
        assert cluster.notes == []


def test_a_controller_whose_place_nobody_takes_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kill_controller, "ELECTED_SECONDS", 0)
    cluster = Noting(leaders=[4])
    with pytest.raises(TimedOut):
        strike(kill_controller.TOXIC, cluster, {"down_ms": 0}).__enter__()
    assert cluster.notes == ["4 killed", "4 restarted"]


@pytest.mark.parametrize("gradual", [False, True])
def test_a_broker_that_goes_on_for_a_while_was_struck_when_it_was_told(
    gradual: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_restart, "await_recovery", lambda *_: None)
    told: list[float] = []

    def take_down(fault_target: FaultTarget, _broker: int) -> str:
        told.append(fault_target.clock.now())
        return "in its own time"

    toxic = BrokerRestart(name="ended", down_ms=(0, 0), take_down=take_down, gradual=gradual)
    with strike(toxic, Noting(), {"broker": 2, "down_ms": 0}) as strikes:
        assert strikes.moment is not None
        since, upto = strikes.moment
    assert (since <= told[0], upto > told[0]) == (True, not gradual)
    assert strikes.how.endswith("; in its own time")
