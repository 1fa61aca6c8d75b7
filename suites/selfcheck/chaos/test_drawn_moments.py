"""Which faults of a round wait for a moment and for which state, in a drawn plan and in its file."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.seed import Seed
from harness.base.user_error import ExitCode
from harness.chaos.moments.moment import MOMENTS
from harness.chaos.moments.struck_requests import requests_by_fault
from harness.chaos.plan.plan_file import read_plan, write_plan
from harness.chaos.plan.round_plan import PlannedRole, draw_plan, drawn_faults
from harness.chaos.plan.scenario import PlannedFault
from harness.chaos.plan.schedule import schedule
from harness.chaos.plan.toxic_catalogue import find_toxics
from harness.evidence.situations.situation import REQUESTS, pairs
from harness.faults.toxic import ToxicReach
from suites.selfcheck.chaos.test_moments import SCENARIO, shape
from suites.selfcheck.fixtures.user_errors import raises_user_error

ROLES = tuple(PlannedRole(name=role.name, client="wire-v2") for role in SCENARIO.workload.roles())


def plans(reach: frozenset[ToxicReach] = frozenset(ToxicReach)) -> list[Sequence[PlannedFault]]:
    return [drawn_faults(SCENARIO, Seed(seed), 30, shape(reach)) for seed in range(60)]


def test_moments_shift_no_other_draw() -> None:
    for seed, faults in enumerate(plans()):
        plain = schedule(SCENARIO, shape(), Seed(seed).stream("schedule"), 30)
        assert tuple(replace(each, moment="", state="") for each in faults) == plain


def test_faults_of_one_round_wait_on_lanes_or_on_links_and_every_moment_is_drawn() -> None:
    named = [{each.moment for each in faults if each.moment} for faults in plans()]
    assert all(len({MOMENTS[name].on for name in names}) <= 1 for names in named)
    assert set().union(*named) == MOMENTS.keys() - {"offsets-in-flight", "group-in-flight"}  # no consumer group
    assert set() in named


def test_every_state_of_a_moment_is_waited_for_and_none_without_a_moment() -> None:
    drawn = {(fault.moment, fault.state) for faults in plans() for fault in faults}
    every = {(name, state) for name, moment in MOMENTS.items() for state in moment.states}
    assert drawn <= {("", ""), *every}
    assert {state for _, state in drawn} == {"", *(state for _, state in every)}


def test_what_is_out_of_reach_is_waited_for_by_nobody() -> None:
    named = {each.moment for faults in plans(frozenset(ToxicReach) - {ToxicReach.LINKS}) for each in faults}
    assert {MOMENTS[name].on for name in named if name} == {"lanes"}


def test_a_plan_keeps_its_moments(tmp_path: Path) -> None:
    drawn = (draw_plan(SCENARIO, Seed(n), 30, shape(), roles=ROLES, prober="wire-v1") for n in range(60))
    plan = next(each for each in drawn if any(fault.moment for fault in each.faults))
    assert read_plan(write_plan(tmp_path / "plan.toml", plan)) == plan
    path = tmp_path / "plan.toml"
    path.write_text(path.read_text().replace('moment = "', 'moment = "no-'))
    with raises_user_error(ExitCode.USAGE, match="is no moment; there are init-in-flight"):
        read_plan(path)


@pytest.mark.parametrize(
    ("moment", "match"),
    [
        ("end-in-flight", "'Empty' is no state of end-in-flight; there are Ongoing"),
        ("", "'Empty' is no state of a fault without a moment; leave it out"),
    ],
)
def test_a_state_that_a_moment_cannot_find_is_refused(tmp_path: Path, moment: str, match: str) -> None:
    plan = draw_plan(SCENARIO, Seed(1), 30, shape(), roles=ROLES, prober="wire-v1")
    faults = (replace(plan.faults[0], moment=moment, state="Empty"),)
    with raises_user_error(ExitCode.USAGE, match=match):
        read_plan(write_plan(tmp_path / "plan.toml", replace(plan, faults=faults)))


def test_every_moment_aims_at_situations_of_the_table() -> None:
    there = set(pairs(groups=True))
    assert all(set(moment.aims) <= there for moment in MOMENTS.values())


def test_every_request_that_a_toxic_strikes_has_a_name_in_the_table() -> None:
    named = {request for requests in requests_by_fault([*find_toxics().values()]).values() for request in requests}
    assert {"WriteTxnMarkers", "a leader's AddPartitionsToTxn", "Produce", "EndTxn"} <= named <= REQUESTS.keys()
