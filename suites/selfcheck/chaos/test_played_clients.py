"""Who plays which role: the scenario's own clients in turn, or those that were named, in an order from the seed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.paths import SCENARIOS
from harness.base.seed import Seed
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.scenario import Scenario
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.chaos.play.casting import PROBER
from harness.chaos.play.round_context import RoundContext, create_round
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.clients.stdio.client_processes import RunningClients
from harness.cluster.run_options import Permissions
from harness.cluster.topology import Topology
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import ToxicReach
from harness.wire.security.security import PLAINTEXT
from suites.selfcheck.clients.stdio.programs import OBEDIENT, program

SCENARIO_FILES = {scenario.name: scenario for scenario in find_scenarios(SCENARIOS)}
NOTHING = cast(Any, None)
LANE = {1: Address("127.0.0.1", 1)}
CLUSTER = SimpleNamespace(
    topology=Topology(brokers=(1, 2, 3), controller=None, lanes={"victim": LANE, "rival": LANE}), owned=True
)
THREE = tuple(AdapterCommand(name=name, command=["never started"]) for name in ("a", "b", "c"))


def environment(programs: Mapping[str, AdapterCommand]) -> Any:
    def fault_target(topics: dict[str, str], ids: dict[str, str], processes: RunningClients) -> FaultTarget:
        cluster = cast(Any, CLUSTER)
        return FaultTarget(
            cluster=cluster, clock=RunClock(), client=NOTHING, topics=topics, transactional_ids=ids, clients=processes
        )

    return SimpleNamespace(
        programs=programs,
        open=lambda: CLUSTER,
        reach=frozenset(ToxicReach),
        next_round=lambda seed: f"round-{seed}",
        tell_out_of_reach=lambda _: None,
        lacking=lambda _: None,
        fault_target=fault_target,
        record_client=lambda _: None,
        spark=SimpleNamespace(spark=None),
        reading=SimpleNamespace(bootstrap="h:1", security=PLAINTEXT),
        belongings=SimpleNamespace(transactional_ids=0),
        wanted=SimpleNamespace(permissions=Permissions()),
    )


def context(name: str, folder: Path, clients: Sequence[AdapterCommand] = (), *, seed: int = 7) -> RoundContext:
    scenario: Scenario = SCENARIO_FILES[name]
    played = scenario.played_by([client.name for client in clients]) if clients else scenario
    round_ = Round(target="t", scenario=played, seed=Seed(seed), seconds=8, folder=folder, command="again")
    made = create_round(environment({client.name: client for client in clients}), round_)
    made.history_journal.close()
    return made


def players(made: RoundContext) -> dict[str, str]:
    return {role: adapter.kind for role, adapter in made.players.items()}


def test_the_scenarios_own_clients_play_in_turn_as_they_are_listed(tmp_path: Path) -> None:
    made = context("relay-on-the-wire", tmp_path)
    assert players(made) == {
        "feeder-0": "wire-v1",
        "relayer-0": "wire-v2",
        "relayer-1": "wire-v1",
        "relayer-2": "wire-v2",
    }
    assert made.prober.kind == "wire-v2"


def test_named_clients_play_in_turn_in_an_order_that_the_seed_gives(tmp_path: Path) -> None:
    casts = [tuple(players(context("zombies-return", tmp_path / f"{n}", THREE, seed=n)).values()) for n in range(8)]
    assert all(set(cast_[:3]) == {"a", "b", "c"} and cast_[3:] == cast_[:2] for cast_ in casts)
    assert len(set(casts)) > 1
    assert casts[3] == tuple(players(context("zombies-return", tmp_path / "again", THREE, seed=3)).values())


def test_the_members_of_a_group_are_of_one_library(tmp_path: Path) -> None:
    for seed in range(5):
        relayers = players(context("relay-rebalances", tmp_path / str(seed), THREE, seed=seed))
        feeder = relayers.pop("feeder-0")
        assert len(set(relayers.values())) == 1
        assert feeder not in relayers.values()


@pytest.mark.parametrize(
    ("name", "protocols"),
    [("late-produce", ["v1"]), ("late-produce-v2", ["v2"]), ("relay-on-the-wire", ["v2", "v1"])],
)
def test_the_crowd_speaks_the_protocols_of_the_scenarios_wire_clients(
    name: str, protocols: list[str], tmp_path: Path
) -> None:
    crowd = context(name, tmp_path).crowd
    assert crowd is not None
    assert [each.name for each in crowd.protocols] == protocols


def test_there_is_no_crowd_beside_named_clients_and_none_on_a_cluster_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert context("zombies-return", tmp_path / "named", THREE).crowd is None
    monkeypatch.setattr(CLUSTER, "owned", False)
    assert context("late-produce", tmp_path / "theirs").crowd is None


def test_probes_do_not_depend_on_libraries(tmp_path: Path) -> None:
    assert context("zombies-return", tmp_path, THREE).prober.kind == PROBER


def test_toxics_wait_until_a_process_plays_each_role(tmp_path: Path) -> None:
    sound = program(tmp_path, OBEDIENT)
    made = context("transfer-through-crashes", tmp_path / "round", [sound])
    roles = made.scenario.workload.roles()
    try:
        for role in roles:
            made.client(role, role.name).client.init()
        made.await_clients(60.0)
        assert len(made.processes.running()) == len(roles)
    finally:
        made.processes.end_all()


@pytest.mark.parametrize("failed", [True, False])
def test_toxics_do_not_wait_for_clients_that_failed_or_are_none(failed: bool, tmp_path: Path) -> None:
    made = context("relay-on-the-wire", tmp_path, THREE if failed else ())
    if failed:
        made.processes.note("a", "the adapter a ended")
    made.await_clients(3_600.0)
    assert made.processes.running() == []
