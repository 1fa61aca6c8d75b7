"""A cluster as a scenario asks for it: started where it can be, and kept for as long as it is asked for."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.base.addresses import Address
from harness.base.paths import SCENARIOS
from harness.chaos.plan.scenario import COMMON, ScenarioCluster
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.chaos.play import environment as module
from harness.chaos.play.environment import Environment
from harness.cluster.cluster import ClusterOptions
from harness.cluster.run_options import RunOptions
from harness.cluster.topology import CONTROLLERS, owned_topology
from harness.faults.toxic import ToxicReach

ROLLING = ScenarioCluster(properties={"log.roll.ms": "3000"})
FORGETTING = ScenarioCluster(properties={"producer.id.expiration.ms": "4000"})
THREE = ScenarioCluster(controllers=3)


@dataclass
class StartedCluster:
    """A cluster that is started with options and ended."""

    options: ClusterOptions
    owned: bool = True
    ended: bool = False

    @property
    def topology(self) -> Any:
        controllers = CONTROLLERS[: self.options.controllers]
        return owned_topology(lambda *_: Address("127.0.0.1", 1), controllers=controllers)

    def kill(self) -> None: ...
    def restart(self) -> None: ...
    def close(self) -> None:
        self.ended = True


@dataclass
class Starts:
    """All that were started."""

    clusters: list[StartedCluster] = field(default_factory=list)

    def start(self, _target: object, *, options: ClusterOptions, **_: object) -> StartedCluster:
        self.clusters.append(StartedCluster(options, owned="external" not in str(_target)))
        return self.clusters[-1]


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Starts:
    made = Starts()
    features = SimpleNamespace(described=lambda _cluster: {}, brokers={})
    monkeypatch.setattr(module, "open_cluster", made.start)
    monkeypatch.setattr(module, "read_target_features", lambda *_: features)
    return made


def environment(folder: Path, target: str = "kafka:4.3.1", backend: str = "process") -> Environment:
    wanted = RunOptions(target=target, backend=backend, folder=folder, progress=lambda _sentence: None)
    return Environment(wanted=wanted)


def test_a_cluster_lasts_until_a_scenario_asks_for_another_one(tmp_path: Path, starts: Starts) -> None:
    session = environment(tmp_path)
    for asked in (COMMON, COMMON, ROLLING, ROLLING, THREE, COMMON):
        session.open_for(asked)
    assert [str(each.options.properties) for each in starts.clusters] == [
        "{}",
        "{'log.roll.ms': '3000'}",
        "{}",
        "{}",
    ]
    assert [each.options.controllers for each in starts.clusters] == [1, 1, 3, 1]
    assert [each.ended for each in starts.clusters] == [True, True, True, False]


def test_what_can_strike_follows_from_the_cluster_that_runs(tmp_path: Path, starts: Starts) -> None:
    session = environment(tmp_path)
    own = {ToxicReach.SETTINGS, ToxicReach.CONTROLLERS}
    found = []
    for asked in (COMMON, ROLLING, THREE):
        session.open_for(asked)
        found.append(session.reach & own)
    assert found == [set(), {ToxicReach.SETTINGS}, {ToxicReach.CONTROLLERS}]
    assert len(starts.clusters) == 3


def test_what_can_strike_on_a_scenarios_own_cluster_is_known_before_it_runs(tmp_path: Path, starts: Starts) -> None:
    session = environment(tmp_path)
    own = {ToxicReach.SETTINGS, ToxicReach.CONTROLLERS}
    for running in (COMMON, THREE):
        session.open_for(running)
        found = [session.reach_for(asked) & own for asked in (COMMON, ROLLING, THREE)]
        assert found == [set(), {ToxicReach.SETTINGS}, {ToxicReach.CONTROLLERS}]
    assert len(starts.clusters) == 2


def test_a_cluster_that_is_not_ours_stays_as_it_is(tmp_path: Path, starts: Starts) -> None:
    session = environment(tmp_path, "external:h:1", "external")
    session.open_for(ROLLING)
    session.open_for(COMMON)
    assert len(starts.clusters) == 1
    assert not starts.clusters[0].ended
    assert ToxicReach.SETTINGS not in session.reach


def test_whether_leaders_keep_every_producer_follows_from_the_settings(tmp_path: Path, starts: Starts) -> None:
    session = environment(tmp_path)
    found = []
    for asked in (COMMON, FORGETTING):
        session.open_for(asked)
        found.append(session.keeps_producers)
    assert found == [True, False]
    assert not environment(tmp_path, "external:h:1", "external").keeps_producers  # its settings are not known
    assert len(starts.clusters) == 3


def test_the_users_own_settings_win() -> None:
    options = ClusterOptions(properties={"log.roll.ms": "7", "num.io.threads": "2"}, releases={1: "3.9.2"})
    own = ROLLING.of(options)
    assert own.properties == options.properties
    assert own.releases == {1: "3.9.2"}
    assert THREE.of(options).controllers == 3


def test_a_scenarios_cluster_in_words() -> None:
    assert str(COMMON) == ""
    both = ScenarioCluster(properties={"b": "2", "a": "1"}, controllers=3)
    assert str(both) == "3 controllers, a=1, b=2"


def test_toxics_that_need_a_cluster_of_their_own_are_in_scenarios_that_ask_for_it() -> None:
    for scenario in find_scenarios(SCENARIOS):
        reaches = {reach for toxic in scenario.toxics for reach in toxic.acts_on}
        assert (ToxicReach.SETTINGS in reaches) == bool(scenario.cluster.properties), scenario.name
        assert (ToxicReach.CONTROLLERS in reaches) == (scenario.cluster.controllers > 1), scenario.name
