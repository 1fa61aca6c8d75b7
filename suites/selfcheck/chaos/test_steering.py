"""Which rounds a steered session plays, and with which seeds."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from harness.app.chaos.chaos_session import ChaosSession
from harness.app.chaos.steered_rounds import BEST_PASSES, SteeredRounds
from harness.base.paths import SCENARIOS
from harness.base.seed import Seed
from harness.chaos.moments.moment import MOMENTS
from harness.chaos.moments.steering import APART, CANDIDATES, aims, steered, worth
from harness.chaos.moments.struck_requests import requests_by_fault
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.round_plan import drawn_faults
from harness.chaos.plan.scenario import PlannedFault, Scenario
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.chaos.play.environment import Environment
from harness.cluster.run_options import RunOptions
from harness.evidence.situations.earlier_situations import EarlierSituations
from harness.evidence.situations.situation import Situation, leader_adds, wanted
from harness.faults.toxic import Toxic, ToxicReach
from suites.selfcheck.chaos.test_moments import BROKERS, SCENARIO, shape
from toxics.coordinator import expire_ids, reload_compacted
from toxics.process import clock_jump

COMMON_REACH = frozenset(ToxicReach) - {ToxicReach.CONTROLLERS, ToxicReach.SETTINGS}


def kills(moment: str) -> tuple[PlannedFault, ...]:
    toxic = next(each for each in SCENARIO.toxics if each.name == "kill")
    return (PlannedFault(toxic=toxic, at_ms=0, duration_ms=1, chosen={}, moment=moment),)


def test_a_fault_at_a_moment_is_worth_more_until_its_situations_were_visited() -> None:
    aims = {Situation(state=state, request=request, fault="kill") for state, request in MOMENTS["end-in-flight"].aims}
    assert worth(kills("end-in-flight"), set(), groups=False) > worth(kills(""), set(), groups=False) > 0
    left = worth(kills("end-in-flight"), aims, groups=False)
    assert left == worth(kills(""), aims, groups=False) < worth(kills(""), set(), groups=False)
    assert worth(kills("end-in-flight"), wanted({"kill": ()}, groups=False), groups=False) == 0


def test_what_rounds_have_aimed_at_in_vain_is_worth_less_each_time() -> None:
    once, twice = (dict.fromkeys(aims(kills("end-in-flight")), times) for times in (1, 2))
    faults = kills("end-in-flight")
    worths = [worth(faults, set(), groups=False, aimed_at=before) for before in ({}, once, twice)]
    assert worths == sorted(worths, reverse=True)
    assert len({*worths}) == 3


@pytest.mark.parametrize("toxic", [clock_jump.TOXIC, expire_ids.TOXIC, reload_compacted.TOXIC])
def test_a_round_of_which_no_state_is_told_is_worth_nothing(toxic: Toxic) -> None:
    hiding = PlannedFault(toxic=toxic, at_ms=0, duration_ms=1, chosen={}, moment="")
    assert worth(kills("end-in-flight"), set(), groups=False) > 0
    assert worth((*kills("end-in-flight"), hiding), set(), groups=False) == 0


def test_a_fault_that_waits_for_a_state_aims_at_no_other() -> None:
    (fault,) = kills("end-answered")
    assert {each.state for each in aims([fault])} == {"CompleteCommit", "CompleteAbort"}
    assert {each.state for each in aims([replace(fault, state="CompleteAbort")])} == {"CompleteAbort"}


def test_the_best_seed_is_chosen_the_same_each_time_and_the_own_one_where_all_are_equal() -> None:
    by_seed = {7 + nth * APART: kills("marker-in-flight" if nth == 3 else "") for nth in range(CANDIDATES)}
    best = steered(Seed(7), lambda seed: by_seed[seed.value], set(), groups=False)
    assert best[0] == Seed(7 + 3 * APART)
    assert best == steered(Seed(7), lambda seed: by_seed[seed.value], set(), groups=False)
    assert steered(Seed(7), lambda _: kills(""), set(), groups=False)[0] == Seed(7)


def session(tmp_path: Path, **options: object) -> SteeredRounds:
    run = RunOptions(
        target="kafka:4.3.1", backend="process", seed=Seed(3), folder=tmp_path, progress=lambda _sentence: None
    )
    chosen = ChaosOptions(run=run, scenarios=find_scenarios(SCENARIOS), **options)  # type: ignore[arg-type]
    shapes = {each.name: shape(scenario=each) for each in chosen.scenarios}
    return SteeredRounds(options=chosen, shapes=shapes)


def a_round(scenario: Scenario = SCENARIO) -> Round:
    return Round(
        target="kafka:4.3.1", scenario=scenario, seed=Seed(3), seconds=30, folder=Path("x"), command="fencepost"
    )


def test_a_steered_round_tells_its_own_seed_and_is_drawn_by_it_alone(tmp_path: Path) -> None:
    steering = session(tmp_path, budget_seconds=600)
    chosen = steering.chosen(a_round())
    assert chosen.seed != Seed(3)
    assert f"--seed {chosen.seed.value} --seconds 30" in chosen.command
    assert "--budget" not in chosen.command
    assert chosen == steering.chosen(a_round())
    steering.visited |= set(wanted(dict.fromkeys(("kill", "pause", "restart"), ()), groups=False))
    assert steering.chosen(a_round()).seed == Seed(3)  # nothing is left for which another would be better


@pytest.mark.parametrize("options", [{}, {"budget_seconds": 600, "unsteered": True}])
def test_without_a_budget_or_when_told_so_nothing_is_steered(tmp_path: Path, options: dict[str, object]) -> None:
    steering = session(tmp_path, **options)
    assert steering.chosen(a_round()) == a_round()
    assert all(steering.has_more(a_round(), number) for number in range(1, 60))


def test_a_steered_pass_aims_at_more_than_twice_what_seeds_in_a_row_aim_at(tmp_path: Path) -> None:
    assert len(_aimed(session(tmp_path, budget_seconds=600))) > 2 * len(_aimed(session(tmp_path)))


def _aimed(steering: SteeredRounds) -> set[Situation]:
    """What one pass over all scenarios aims at, where whatever is aimed at is visited."""
    for number, scenario in enumerate(steering.options.scenarios):
        chosen = steering.chosen(replace(a_round(scenario), seed=Seed(3 + number)))
        faults = drawn_faults(scenario, chosen.seed, chosen.seconds, shape(scenario=scenario))
        steering.visited |= aims(faults)
    return steering.visited


def scenarios_of(steering: SteeredRounds, turn: int) -> list[str]:
    """The scenarios of the rounds that are played of a turn, from 0."""
    scenarios = steering.options.scenarios
    offered = enumerate(scenarios, start=turn * len(scenarios) + 1)
    return [each.name for number, each in offered if steering.has_more(a_round(each), number)]


def test_a_session_that_goes_on_begins_with_the_best_round(tmp_path: Path) -> None:
    before = EarlierSituations(rounds=1, wanted=(), visited=())
    steering = session(tmp_path, budget_seconds=600, after=(tmp_path, before))
    assert len(scenarios_of(steering, 0)) == 1
    assert f"--after {tmp_path}" in steering.options.session_command()


def test_where_nothing_is_left_to_aim_at_all_scenarios_are_played_in_turn(tmp_path: Path) -> None:
    steering = session(tmp_path, budget_seconds=3_600)
    scenarios = steering.options.scenarios
    toxics = [toxic for scenario in scenarios for toxic in scenario.toxics]
    assert len(scenarios_of(steering, 1)) == 1
    steering.visited |= wanted(requests_by_fault(toxics), groups=True)
    assert scenarios_of(steering, 2) == [each.name for each in scenarios]


def test_what_earlier_sessions_visited_is_visited(tmp_path: Path) -> None:
    visited = tuple(sorted(wanted(dict.fromkeys(("kill", "pause", "restart"), ()), groups=False)))
    before = EarlierSituations(rounds=1, wanted=visited, visited=visited)
    options = session(tmp_path, budget_seconds=600, after=(tmp_path, before)).options
    assert ChaosSession(options=options).steering.visited == set(visited)


def test_a_pass_over_all_scenarios_is_followed_by_rounds_of_the_best(tmp_path: Path) -> None:
    steering = session(tmp_path, budget_seconds=600)
    scenarios = steering.options.scenarios
    every = [each.name for each in scenarios]
    assert scenarios_of(steering, 0) == every
    (best,) = scenarios_of(steering, 1)
    toxics = next(each for each in scenarios if each.name == best).toxics
    steering.visited |= wanted(requests_by_fault(toxics), groups=True)
    assert scenarios_of(steering, 1) == [best], "a turn is decided once"
    (next_best,) = scenarios_of(steering, 2)
    assert next_best != best
    steering.beyond.add(next_best)
    assert next_best not in scenarios_of(steering, 3)
    best_alone = BEST_PASSES * len(scenarios)
    assert (len(scenarios_of(steering, best_alone)), scenarios_of(steering, 1 + best_alone)) == (1, every)


def test_all_rounds_that_the_budget_may_reach_for_are_offered_in_turns_of_one(tmp_path: Path) -> None:
    offered = ChaosSession(options=session(tmp_path, budget_seconds=7_200).options)
    in_turn = len(offered.options.scenarios)
    assert len(offered.rounds) == offered.rounds_in_all * in_turn
    assert sorted(offered.rounds, key=lambda each: each.folder.name) == offered.rounds
    unsteered = ChaosSession(options=session(tmp_path, budget_seconds=7_200, unsteered=True).options)
    assert len(unsteered.rounds) == unsteered.rounds_in_all == offered.rounds_in_all


def test_a_scenario_with_a_cluster_of_its_own_is_worth_what_can_strike_there(tmp_path: Path) -> None:
    steering = session(tmp_path, budget_seconds=600)
    every = wanted(
        requests_by_fault([toxic for each in steering.options.scenarios for toxic in each.toxics]), groups=True
    )
    steering.visited |= {each for each in every if each.fault != "kill-controller"}
    assert scenarios_of(steering, 1) == ["controllers-fail-over"]
    steering.shapes = {name: replace(each, reach=COMMON_REACH) for name, each in steering.shapes.items()}
    assert scenarios_of(steering, 2) != ["controllers-fail-over"]


def test_what_leaders_add_is_aimed_at_only_where_leaders_add(tmp_path: Path) -> None:
    steering = session(tmp_path, budget_seconds=600)
    every = wanted(requests_by_fault(SCENARIO.toxics), groups=False)
    steering.visited |= {each for each in every if not leader_adds(each)}
    assert steering.chosen(a_round()).seed != Seed(3)
    steering.never = frozenset(filter(leader_adds, every))
    assert steering.chosen(a_round()).seed == Seed(3)


def test_what_can_strike_in_each_scenario_is_asked_once_a_session(tmp_path: Path) -> None:
    steering, asked = replace(session(tmp_path, budget_seconds=600), shapes={}), list[object]()

    def reach_for(cluster: object) -> frozenset[ToxicReach]:
        asked.append(cluster)
        return COMMON_REACH

    running = SimpleNamespace(topology=SimpleNamespace(brokers=BROKERS))
    environment = SimpleNamespace(
        running=running, open=lambda: running, reach_for=reach_for, lacking=lambda _adapter: None
    )
    for _ in range(2):
        steering.note(tmp_path, cast(Environment, environment))
    assert asked == [each.cluster for each in steering.options.scenarios]
    assert {each.reach for each in steering.shapes.values()} == {COMMON_REACH}


def test_once_the_budget_is_over_no_round_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SteeredRounds, "has_more", lambda *_: True)
    going_on = ChaosSession(options=session(tmp_path, budget_seconds=7_200).options)
    going_on.ended.append(going_on.rounds[0])
    assert going_on.reaches(going_on.rounds[1])
    monkeypatch.setattr(SteeredRounds, "has_more", lambda *_: pytest.fail("looked for a round"))
    over = ChaosSession(options=session(tmp_path, budget_seconds=7_200).options)
    over.ended.append(over.rounds[0])
    over.started -= 7_200
    assert not over.reaches(over.rounds[1])
