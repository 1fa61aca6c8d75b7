"""Plans as data: what a file keeps, what is wrong in one, and that what is left out shifts nothing."""

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.app.cli import parser
from harness.app.options import chaos_options
from harness.base.paths import SCENARIOS
from harness.base.seed import Seed
from harness.base.user_error import ExitCode
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.plan_file import plan_text, read_plan, scenario_of, write_plan
from harness.chaos.plan.round_plan import PlannedRole, RoundPlan, cast_roles, draw_plan
from harness.chaos.plan.scenario import Scenario
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.chaos.plan.toml_text import toml
from harness.chaos.play.actor import Actor
from harness.chaos.play.round_context import RoundContext, create_round
from harness.faults.toxic import ClusterShape
from suites.selfcheck.chaos.test_actors import RecordedActors
from suites.selfcheck.chaos.test_played_clients import environment
from suites.selfcheck.fixtures.fake_client import FakeClient
from suites.selfcheck.fixtures.user_errors import raises_user_error

SCENARIO_FILES = {scenario.name: scenario for scenario in find_scenarios(SCENARIOS)}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES = st.one_of(TEXT, st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False))
TABLES = st.dictionaries(TEXT, VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(TEXT, VALUES, max_size=3))


def drawn(name: str, seed: int = 7, seconds: float = 30.0) -> RoundPlan:
    """The plan of a scenario, as a round on a whole cluster of ours draws it."""
    scenario = SCENARIO_FILES[name]
    roles = scenario.workload.roles()
    ids = tuple(dict.fromkeys(role.transactional_id for role in roles if role.transactional_id))
    shape = ClusterShape(topics=scenario.workload.topics, transactional_ids=ids)
    cast_ = cast_roles(roles, ("wire-v1", "wire-v2"), one_library_a_group=False)
    return draw_plan(scenario, Seed(seed), seconds, shape, roles=cast_, prober="wire-v2")


@given(TABLES, st.lists(TABLES, min_size=1, max_size=2))
def test_what_is_written_as_toml_reads_back(plain: dict[str, Any], tables: list[dict[str, Any]]) -> None:
    document = {**{name: value for name, value in plain.items() if not isinstance(value, list)}, "tables": tables}
    assert tomllib.loads(toml(cast(Any, document))) == document


@pytest.mark.parametrize("name", SCENARIO_FILES)
def test_a_plan_reads_back_as_it_was_written(name: str, tmp_path: Path) -> None:
    plan = drawn(name)
    assert plan.faults
    assert read_plan(write_plan(tmp_path / "plan.toml", plan)) == plan
    one = replace(plan.roles[0], at_ms=1_200, transactions=1)
    smallest = replace(plan, roles=(one,), faults=())
    assert read_plan(write_plan(tmp_path / "smallest.toml", smallest)) == smallest


def test_a_plan_fixes_scenario_seed_length_and_clients(tmp_path: Path) -> None:
    plan = drawn("late-produce", seconds=12.5)
    file = write_plan(tmp_path / "plan.toml", plan)
    given = parser().parse_args(["chaos", "kafka:4.3.1", "--plan", str(file), "--budget", "1m"])
    options = chaos_options(given, target=given.target)
    assert [scenario.name for scenario in options.scenarios] == ["late-produce"]
    assert options.length(options.scenarios[0], 1) == 12.5
    assert {seed.value for _, seed in zip(range(3), options.seeds(), strict=False)} == {7}
    assert options.session_command().startswith(f"fencepost chaos kafka:4.3.1 --plan {file} --budget 60s")
    assert scenario_of(plan).clients == ("wire-v2", "wire-v1")


WRONG = {
    "no is no plan": "scenario = 3",
    "no scenario; there are late-produce": 'scenario = "late-product"',
    "'writer-9' is no role of late-produce; there are writer-0, writer-1": 'name = "writer-9"',
    "'late-product' is no toxic; there are bandwidth": 'toxic = "late-product"',
    "'java' cannot probe; one of wire-v2, wire-v1 can": 'prober = "java"',
    "must be above 0": "seconds = 0",
    "cannot be below 0": "at_ms = -1",
    "transactions is 1 or more": "transactions = 0",
    "unknown field": "clients = 3",
}


@pytest.mark.parametrize(("sentence", "line"), WRONG.items(), ids=WRONG)
def test_what_is_wrong_in_a_plan_is_one_sentence(sentence: str, line: str, tmp_path: Path) -> None:
    plan = drawn("late-produce")
    role = replace(plan.roles[0], at_ms=2, transactions=3)
    text = plan_text(replace(plan, roles=(role,), faults=plan.faults[:1]))
    name = line.partition(" ")[0]
    lines = [line if each.startswith(f"{name} =") else each for each in text.splitlines()]
    file = tmp_path / "plan.toml"
    file.write_text("\n".join(lines if line in lines else [line, *lines]), encoding="utf-8")
    with raises_user_error(ExitCode.USAGE, "is no plan: " if sentence.startswith(("no is", "unknown")) else sentence):
        read_plan(file)


def test_a_plan_without_roles_or_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    with raises_user_error(ExitCode.USAGE, "No such file"):
        read_plan(file)
    file.write_text('scenario = "late-produce"\nseed = 1\nseconds = 8\nprober = "wire-v1"\nroles = []\n')
    with raises_user_error(ExitCode.USAGE, "no role plays"):
        read_plan(file)


def test_what_the_plan_fixes_cannot_be_given_beside_it(tmp_path: Path) -> None:
    file = write_plan(tmp_path / "plan.toml", drawn("late-produce"))
    given = parser().parse_args(["chaos", "kafka:4.3.1", "--plan", str(file), "--seed", "3", "--clients", "java"])
    with raises_user_error(ExitCode.USAGE, "--seed, --clients: the plan fixes"):
        chaos_options(given, target=given.target)


def context(name: str, folder: Path, plan: RoundPlan | None = None) -> RoundContext:
    scenario: Scenario = replace(SCENARIO_FILES[name], clients=("wire-v2", "wire-v1"), crowd=None)
    if plan is not None:
        scenario = scenario_of(plan)
    round_ = Round(target="t", scenario=scenario, seed=Seed(7), seconds=30, folder=folder, command="again", plan=plan)
    made = create_round(environment({}), round_)
    made.history_journal.close()
    return made


def played(made: RoundContext, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[object]]:
    """What each role wrote in its first transactions, one role after the other, and with which client."""
    recorded = RecordedActors(folder)
    clients: dict[str, FakeClient] = {}
    by_name = {role.name: role for role in made.roles}

    def actor(**given: Any) -> Actor:
        role = given["role"]
        client = recorded.open(by_name[role], role)
        clients[role] = recorded.clients[-1]
        return Actor(**{**given, "open_client": lambda _name: client, "most_txns": given["most_txns"] or 12})

    monkeypatch.setattr("harness.chaos.play.round_context.Actor", actor)
    monkeypatch.setattr(RoundContext, "start_thread", lambda _self, _name, work: work())
    made.start_roles()
    recorded.history_journal.close()
    return {name: [made.players[name].kind, *client.wrote] for name, client in clients.items()}


@pytest.mark.parametrize("name", ["late-produce", "transfer-over-bad-links"])
def test_a_role_or_fault_that_is_left_out_shifts_no_draw_of_the_others(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = context(name, tmp_path / "whole")
    everything = played(whole, tmp_path / "a", monkeypatch)
    assert all(len(written) > 12 for written in everything.values())
    left = replace(whole.plan, roles=whole.plan.roles[1::2], faults=whole.plan.faults[1:])
    cut = context(name, tmp_path / "cut", left)
    assert cut.plan == left
    kept = played(cut, tmp_path / "b", monkeypatch)
    assert kept == {role.name: everything[role.name] for role in left.roles}


def test_a_role_makes_as_many_transactions_as_the_plan_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = context("late-produce", tmp_path / "whole")
    roles: Sequence[PlannedRole] = [replace(role, transactions=nth) for nth, role in enumerate(whole.plan.roles, 1)]
    cut = context("late-produce", tmp_path / "cut", replace(whole.plan, roles=tuple(roles)))
    played(cut, tmp_path / "a", monkeypatch)
    assert cut.transactions == {"writer-0": 1, "writer-1": 2, "writer-2": 3, "writer-3": 4}


def test_a_role_that_begins_later_waits_and_begins_nothing_once_the_round_is_over(tmp_path: Path) -> None:
    whole = context("late-produce", tmp_path / "whole")
    late = tuple(replace(role, at_ms=3_600_000) for role in whole.plan.roles)
    made = context("late-produce", tmp_path / "cut", replace(whole.plan, roles=late))
    made.start_roles()
    assert made.threads == []
    made.start_roles(later=True)
    assert len(made.threads) == 4
    made.stop_threads(10)
    assert (made.failures, made.transactions) == ([], {})
    assert isinstance(made.stop, Event)
