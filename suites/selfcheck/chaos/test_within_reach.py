"""On a cluster that is not ours only some toxics can strike: those are drawn, the others named with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.app.chaos.chaos_session import ChaosSession
from harness.base.addresses import Address, Lane
from harness.base.paths import ROOT, SCENARIOS
from harness.base.seed import Seed
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.round_folders import rounds_of
from harness.chaos.plan.round_plan import PlannedRole, RoundPlan
from harness.chaos.plan.scenario import PlannedFault, Scenario
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.chaos.plan.schedule import schedule
from harness.chaos.plan.toxic_catalogue import find_toxics
from harness.chaos.play.casting import ClientsNotOffered, ScenarioOutOfReach
from harness.chaos.play.round_context import create_round
from harness.chaos.play.within_reach import lost, on_external, reach_of
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.cluster.run_options import Permissions, RunOptions
from harness.cluster.topology import CONTROLLERS, Topology, owned_topology
from harness.faults.toxic import ClusterShape, ToxicReach
from suites.selfcheck.fixtures import chaos_folders

IDS = {"topics": {"accounts": 3}, "transactional_ids": ("teller",)}
OURS = ClusterShape(**IDS)  # type: ignore[arg-type]
THEIRS = replace(OURS, reach=frozenset({ToxicReach.LANES, ToxicReach.TOPICS}))
CHANGED = replace(THEIRS, reach=THEIRS.reach | {ToxicReach.LEADERS})
TOXICS = find_toxics()
SCENARIO_FILES = {scenario.name: scenario for scenario in find_scenarios(SCENARIOS)}
BEYOND = {
    *("kill", "pause", "restart", "rolling-restart", "isolate-from-controller", "slow-markers", "slow-verification"),
    *("move-coordinator", "move-leader", "one-replica", "full-disk"),
    *("rolling-upgrade", "upgrade-and-back"),
    *("slow-disk", "clock-jump", "pause-fenced", "kill-controller", "move-replicas", "reload-compacted", "expire-ids"),
    *("trim-log", "unclean-election", "late-verification"),
}
LEADERSHIP = {"move-coordinator", "move-leader", "one-replica", "move-replicas", "trim-log"}
OF_CLIENTS = {"client-killed", "client-paused"}
LANES_ALONE: Mapping[tuple[Lane, int], str] = {
    ("victim", 1): "lane-victim-1",
    ("victim", 2): "lane-victim-2",
}


@dataclass
class Theirs:
    """A cluster that is not ours; one with links and powers would be."""

    topology: Topology
    owned: bool = False


def theirs(*brokers: int, proxies: bool = True) -> Any:
    return Theirs(Topology(brokers=brokers, controller=None, lanes={}, lane_proxies=LANES_ALONE if proxies else {}))


class Ours(Theirs):
    """A cluster that we started, with every power."""

    def kill(self) -> None: ...
    def restart(self) -> None: ...
    def stop(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def fill_disk(self) -> None: ...
    def ended(self) -> None: ...
    def load_rules_into(self) -> None: ...
    def unload_rules_from(self) -> None: ...


class Begun(Ours):
    """One whose nodes were started with another release."""

    def run_release(self) -> None: ...
    def altered(self) -> None: ...
    def started_with(self, _node: int) -> str:
        return "3.9.2"


def test_what_is_within_reach() -> None:
    allowed = Permissions(changes=True)
    assert reach_of(theirs(1, 2), Permissions()) == THEIRS.reach
    assert reach_of(theirs(1, 2), allowed) == CHANGED.reach
    assert reach_of(theirs(1), allowed) == THEIRS.reach, "one broker has nobody to hand a leadership to"
    assert reach_of(theirs(1, 2, proxies=False), Permissions()) == {ToxicReach.TOPICS}
    ours = cast(Any, Ours(owned_topology(lambda *_: Address("127.0.0.1", 1)), owned=True))
    usual = OURS.reach - {ToxicReach.RELEASES, ToxicReach.SETTINGS, ToxicReach.CONTROLLERS}
    assert reach_of(ours, Permissions(), clients=True) == usual
    assert reach_of(ours, Permissions()) == usual - {ToxicReach.CLIENTS}
    three = owned_topology(lambda *_: Address("127.0.0.1", 1), controllers=CONTROLLERS)
    older = cast(Any, Begun(three, owned=True))
    assert reach_of(older, Permissions(), clients=True, settings=True) == OURS.reach


def test_on_a_cluster_that_is_not_ours_these_toxics_cannot_strike() -> None:
    toxics = list(TOXICS.values())
    assert lost(toxics, OURS) == {}
    assert set(lost(toxics, THEIRS)) == BEYOND | OF_CLIENTS
    assert set(lost(toxics, CHANGED)) == (BEYOND | OF_CLIENTS) - LEADERSHIP
    with_processes = replace(THEIRS, reach=THEIRS.reach | {ToxicReach.CLIENTS})
    assert set(lost(toxics, with_processes)) == BEYOND


@pytest.mark.parametrize("name", sorted(set(TOXICS) - BEYOND))
def test_what_can_strike_draws_nothing_that_is_out_of_reach(name: str) -> None:
    for seed in range(50):
        drawn = TOXICS[name].draw(THEIRS, Random(seed))
        assert str(drawn.get("proxy", "lane-")).startswith("lane-")
        assert drawn.get("from", "clients") == "clients"


@pytest.mark.parametrize("name", sorted(SCENARIO_FILES))
@pytest.mark.parametrize("seed", range(3))
def test_every_toxic_that_is_left_gets_its_windows(name: str, seed: int) -> None:
    scenario = SCENARIO_FILES[name]
    left = {toxic.name for toxic in scenario.toxics} - BEYOND
    planned = schedule(scenario, THEIRS, Random(seed), 60)
    assert {fault.toxic.name for fault in planned} == left


def test_the_list_of_scenarios_says_which_can_be_played_on_a_cluster_that_is_not_ours() -> None:
    assert on_external(SCENARIO_FILES["late-produce"].toxics) == ""
    assert on_external(SCENARIO_FILES["zombies-return"].toxics) == " [external: without move-coordinator]"
    assert on_external(SCENARIO_FILES["rolling-restart"].toxics) == " [external: out of reach]"


def test_the_page_of_chaos_says_of_every_toxic_whether_it_can_strike_there() -> None:
    page = (ROOT / "suites" / "chaos" / "README.md").read_text(encoding="utf-8")
    lines = page.partition("| toxics | on `external:` |")[2].splitlines()[2:]
    rows = [line.strip("|").split("|") for line in takewhile(lambda line: line.startswith("|"), lines)]
    said = {
        name.strip(): "out of reach" in what or "--allow-changes" in what
        for names, what in rows
        for name in names.split(",")
    }
    assert said == {name: name in BEYOND for name in TOXICS}


def test_of_a_plan_only_what_is_within_reach_is_left() -> None:
    faults = [
        PlannedFault(toxic=TOXICS[name], at_ms=at_ms, duration_ms=1, chosen={})
        for at_ms, name in enumerate(("latency", "kill", "reset"))
    ]
    role = PlannedRole(name="writer-0", client="wire-v1")
    plan = RoundPlan(scenario="late-produce", seed=1, seconds=10, prober="wire-v1", roles=(role,), faults=tuple(faults))
    assert [fault.toxic.name for fault in plan.within_reach(THEIRS).faults] == ["latency", "reset"]


def environment(told: list[str]) -> Any:
    """What a round asks before anything is opened."""
    return SimpleNamespace(
        open=lambda: theirs(1, 2),
        reach=THEIRS.reach,
        next_round=lambda seed: f"fencepost-x-1-{seed}",
        tell_out_of_reach=lambda found: told.extend(found),
        features=SimpleNamespace(brokers={}),
        lacking=lambda _: "nothing is offered here",
        programs={"librdkafka": AdapterCommand(name="librdkafka:1", command=[])},
        record_client=lambda _: None,
    )


def round_of(scenario: Scenario, folder: Path) -> Round:
    return Round(target="external:x:1", scenario=scenario, seed=Seed(7), seconds=8, folder=folder, command="again")


def test_a_scenario_without_a_toxic_that_can_strike_is_out_of_reach_with_the_reason(tmp_path: Path) -> None:
    told: list[str] = []
    with pytest.raises(ScenarioOutOfReach, match="kill, pause, restart: the brokers are not ours to stop"):
        create_round(environment(told), round_of(SCENARIO_FILES["transfer-through-crashes"], tmp_path))
    assert told == []


def test_what_a_scenario_loses_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    scenario = replace(SCENARIO_FILES["zombies-return"], clients=("wire-v1",))
    with pytest.raises(ClientsNotOffered, match="nothing is offered here"):
        create_round(environment(told), round_of(scenario, tmp_path))
    assert told == ["move-coordinator"]


def test_a_scenario_of_transactions_v2_is_not_played_by_clients_of_whom_that_is_not_known(tmp_path: Path) -> None:
    scenario = SCENARIO_FILES["late-produce-v2"].played_by(["./mine"])
    played = environment([])
    played.programs = {"./mine": AdapterCommand(name="./mine", command=["./mine"])}
    played.lacking = lambda _: None
    with pytest.raises(ClientsNotOffered, match=r"needs clients of Transactions V2, and of \./mine that is not known"):
        create_round(played, round_of(scenario, tmp_path))


def test_a_scenario_that_is_out_of_reach_is_counted_and_not_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def beyond(*_: object) -> None:
        raise ScenarioOutOfReach("the brokers are not ours to stop")

    monkeypatch.setattr("harness.app.chaos.chaos_session.perform", beyond)
    options = ChaosOptions(run=RunOptions(target="external:x:1", folder=tmp_path), budget_seconds=3_600)
    session = ChaosSession(options=options)
    round_ = round_of(SCENARIO_FILES["transfer-through-crashes"], tmp_path / "001")
    with pytest.raises(ScenarioOutOfReach):
        session.examine(round_)
    assert session.ended == [round_]
    assert not session.judged
    assert not session.reaches(round_)
    assert session.reaches(round_of(SCENARIO_FILES["zombies-return"], tmp_path / "002"))


def test_a_round_out_of_reach_is_one_of_the_sessions_rounds(tmp_path: Path) -> None:
    beyond = chaos_folders.beyond(tmp_path / "001")
    chaos_folders.unjudged(tmp_path / "002")
    (tmp_path / "cluster-1").mkdir()
    assert rounds_of(tmp_path) == (beyond,)
