"""Shrinking without a cluster: delta debugging for any question, and the search on plans whose rounds are made up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.json_value import Json
from harness.chaos.plan.plan_file import plan_text
from harness.chaos.plan.round_plan import RoundPlan
from harness.chaos.shrink.delta_debugging import smallest_number, smallest_part
from harness.chaos.shrink.first_guesses import first_guesses
from harness.chaos.shrink.lab_sketch import lab_sketch
from harness.chaos.shrink.plan_search import PLAYS_AT_THE_END, BudgetOver, PlanSearch, PlayedPlan
from harness.chaos.shrink.smaller_plans import brought_forward, one_transaction_each, shortened
from harness.evidence.history.judgement import FindingContext, HistoryFinding
from harness.evidence.history.operation import FaultWindow
from suites.selfcheck.chaos.test_plans import drawn

PARTS = st.integers(1, 24).map(range)


@given(PARTS, st.data())
def test_of_what_is_needed_together_all_is_kept_and_nothing_else(parts: Sequence[int], data: st.DataObject) -> None:
    needed = data.draw(st.sets(st.sampled_from(parts), min_size=1))
    asked: list[tuple[int, ...]] = []

    def shows(some: Sequence[int]) -> bool:
        asked.append(tuple(some))
        return needed <= set(some)

    assert smallest_part(parts, shows) == tuple(sorted(needed))
    assert () not in asked
    assert len(asked) <= len(parts) ** 2 + 3 * len(parts)


@given(PARTS, st.integers(0, 2**32))
def test_whatever_is_asked_the_result_shows_it_and_nothing_single_can_be_left_out(
    parts: Sequence[int], salt: int
) -> None:
    def shows(some: Sequence[int]) -> bool:
        return len(some) == len(parts) or hash((salt, tuple(some))) % 3 == 0

    kept = smallest_part(parts, shows)
    assert shows(kept)
    assert list(kept) == sorted(set(kept))
    assert len(kept) == 1 or not any(shows([*kept[:nth], *kept[nth + 1 :]]) for nth in range(len(kept)))


@given(st.integers(1, 100), st.integers(0, 2**32))
def test_a_single_cause_is_found_by_halves(size: int, salt: int) -> None:
    asked: list[Sequence[int]] = []
    cause = salt % size

    def shows(some: Sequence[int]) -> bool:
        asked.append(some)
        return cause in some

    assert smallest_part(range(size), shows) == (cause,)
    assert len(asked) <= 2 * size.bit_length()


@given(st.integers(1, 50), st.integers(1, 50))
def test_the_smallest_number_is_found_by_halves(high: int, least: int) -> None:
    asked: list[int] = []

    def shows(number: int) -> bool:
        asked.append(number)
        return number >= least

    assert smallest_number(1, high, shows) == min(least, high)
    assert high not in asked[1:]
    assert len(asked) <= 2 + high.bit_length()


@dataclass
class MadeUp:
    """Rounds that are red where ``red`` says so."""

    red: Callable[[RoundPlan, int], bool]
    time_for: int = 1_000
    played: list[RoundPlan] = field(default_factory=list)
    kept: list[RoundPlan] = field(default_factory=list)

    def search(self, plan: RoundPlan, tries: int = 3) -> PlanSearch:
        return PlanSearch(
            smallest=plan,
            play=self.play,
            has_time=lambda _: len(self.played) < self.time_for,
            keep=self.kept.append,
            most_tries=tries,
        )

    def play(self, plan: RoundPlan) -> PlayedPlan:
        self.played.append(plan)
        return PlayedPlan(red=self.red(plan, len(self.played)), transactions={role.name: 40 for role in plan.roles})


PLAN = drawn("late-produce", seconds=40)
CAUSE = PLAN.faults[1]


def needs_a_writer_and_a_fault(plan: RoundPlan, _nth: int) -> bool:
    """Red with writer-2, the second fault for 1.5 s, and six transactions."""
    fits = [each for each in plan.faults if each.chosen == CAUSE.chosen and each.duration_ms >= 1_500]
    roles = [role for role in plan.roles if role.name == "writer-2" and (role.transactions or 40) >= 6]
    return bool(fits and roles)


def test_a_search_ends_with_what_is_needed() -> None:
    made_up = MadeUp(needs_a_writer_and_a_fault)
    search = made_up.search(PLAN)
    assert search.confirm()
    search.search(())
    search.measure()
    assert [(role.name, role.transactions) for role in search.smallest.roles] == [("writer-2", 6)]
    assert [(each.chosen, each.at_ms, each.duration_ms) for each in search.smallest.faults] == [
        (CAUSE.chosen, 1_000, 1_500)
    ]
    assert search.smallest.seconds == pytest.approx(3.5)
    assert search.share(search.smallest) == (PLAYS_AT_THE_END, PLAYS_AT_THE_END)
    assert made_up.kept[-1] == search.smallest
    twice = [plan_text(plan) for plan in made_up.played if plan != search.smallest]
    assert len(set(twice)) == len(twice)
    assert all(needs_a_writer_and_a_fault(plan, 0) for plan in made_up.kept)


def test_a_choice_that_is_not_needed_is_switched_off() -> None:
    fault = replace(CAUSE, chosen={**CAUSE.chosen, "persistent": True, "hang_up": True})
    made_up = MadeUp(lambda plan, _: any(each.chosen["persistent"] for each in plan.faults))
    search = made_up.search(replace(PLAN, faults=(fault,)))
    assert search.confirm()
    search.search(())
    assert [(each.chosen["persistent"], each.chosen["hang_up"]) for each in search.smallest.faults] == [(True, False)]


@pytest.mark.parametrize("needed", [True, False])
def test_a_fault_waits_for_a_moment_only_where_that_is_needed(*, needed: bool) -> None:
    made_up = MadeUp(lambda plan, _: any(each.moment or not needed for each in plan.faults))
    search = made_up.search(replace(PLAN, faults=(replace(CAUSE, moment="end-in-flight"),)))
    assert search.confirm()
    search.search(())
    assert [each.moment for each in search.smallest.faults] == (["end-in-flight"] if needed else [""])


def test_a_plan_that_is_red_too_seldom_gives_way_to_the_one_before_it() -> None:
    made_up = MadeUp(lambda plan, nth: plan.seconds >= 3 or (plan.seconds == 2 and nth == 2))
    search = made_up.search(replace(PLAN, faults=(), seconds=4))
    assert search.confirm()
    search.shows(replace(search.smallest, seconds=2))
    assert search.smallest.seconds == 2
    search.measure()
    assert search.smallest == made_up.kept[-1]
    assert search.smallest.seconds == 4
    assert search.share(search.smallest) == (PLAYS_AT_THE_END, PLAYS_AT_THE_END)


def test_when_the_time_is_over_the_plan_that_was_red_most_often_is_the_result() -> None:
    made_up = MadeUp(lambda plan, nth: plan.seconds >= 3 or nth == 2, time_for=4)
    search = made_up.search(replace(PLAN, faults=(), seconds=4))
    assert search.confirm()
    search.shows(replace(search.smallest, seconds=2))
    with pytest.raises(BudgetOver):
        search.measure()
    assert (search.smallest.seconds, made_up.kept[-1].seconds) == (4, 4)


def test_a_round_that_is_red_without_faults_ends_without_any() -> None:
    made_up = MadeUp(lambda plan, _: plan.seconds >= 4)
    search = made_up.search(PLAN)
    assert search.confirm()
    search.search(())
    assert (search.smallest.faults, search.smallest.seconds) == ((), 4.0)
    assert [role.transactions for role in search.smallest.roles] == [1]


def test_a_round_that_is_not_red_again_is_tried_several_times_and_then_given_up() -> None:
    made_up = MadeUp(lambda *_: False)
    search = made_up.search(PLAN, tries=4)
    assert not search.confirm()
    assert made_up.played == [PLAN] * 4
    assert made_up.kept == []


def test_where_the_round_is_not_red_each_time_neither_is_a_plan_green_at_its_first_try() -> None:
    made_up = MadeUp(lambda plan, nth: nth % 3 == 0 and needs_a_writer_and_a_fault(plan, nth))
    search = made_up.search(PLAN)
    assert search.confirm()
    search.search(())
    assert [role.name for role in search.smallest.roles] == ["writer-2"]
    search.measure()
    reds, plays = search.share(search.smallest)
    assert 0 < reds < plays == PLAYS_AT_THE_END


def test_when_the_time_is_over_the_smallest_so_far_is_kept() -> None:
    made_up = MadeUp(needs_a_writer_and_a_fault, time_for=4)
    search = made_up.search(PLAN)
    assert search.confirm()
    with pytest.raises(BudgetOver):
        search.search(())
    assert len(made_up.played) == 4
    assert search.smallest == made_up.kept[-1]
    assert len(search.smallest.faults) < len(PLAN.faults)


def window(started: float) -> FaultWindow:
    return FaultWindow(
        name="late-produce", kind="frames", where="", started=started, ended=started + 9, struck=1, how=""
    )


def finding(*, faults: Sequence[float], txn: int = 30_000_004) -> HistoryFinding:
    rows: tuple[dict[str, Json], ...] = (
        {"number": 7, "actor": "writer-2.3", "verb": "begin", "txn": txn},
        {"number": 8, "actor": "writer-0", "verb": "begin", "txn": 5},
    )
    near: list[dict[str, Json]] = [{"name": "late-produce", "started": at} for at in faults]
    around = FindingContext(operations=rows, faults=tuple(near))
    return HistoryFinding(anomaly="hanging-transaction", detail="", txn=txn, operations=(7,), around=around)


def test_what_the_finding_names_is_tried_first_and_at_once() -> None:
    windows = [window(at) for at in range(1_000, 1_000 + 50 * len(PLAN.faults), 50)]
    bold, early, named = first_guesses(PLAN, finding(faults=[1_050]), windows)
    assert [role.name for role in named.roles] == ["writer-2"]
    assert named.faults == (CAUSE,)
    assert named.seconds == PLAN.seconds
    assert (early.faults[0].at_ms, early.roles) == (1_000, named.roles)
    assert (bold.roles[0].at_ms, bold.roles[0].transactions) == (1_200, 1)
    made_up = MadeUp(lambda plan, _: plan in (PLAN, bold))
    search = made_up.search(PLAN)
    assert search.confirm()
    search.search([bold, early, named])
    assert made_up.played[1] == bold


def test_a_finding_that_names_nothing_leaves_all_roles_and_faults_to_the_search() -> None:
    nothing = HistoryFinding(anomaly="stuck-lso", detail="")
    bold, early = first_guesses(PLAN, nothing, ())
    assert len(bold.roles) == len(early.roles) == len(PLAN.roles)
    assert len(bold.faults) == len(early.faults) == len(PLAN.faults)


@pytest.mark.parametrize("name", ["late-produce", "transfer-through-crashes", "leaders-move"])
@pytest.mark.parametrize("seed", range(4))
def test_faults_that_come_earlier_stay_in_their_order_and_overlap_as_before(name: str, seed: int) -> None:
    plan = drawn(name, seed=seed, seconds=60)
    some = replace(plan, faults=plan.faults[1:])
    early = brought_forward(some)
    assert early.faults[0].at_ms == 1_000
    assert early.seconds <= plan.seconds
    pairs = list(zip(some.faults, early.faults, strict=True))
    assert all(new.at_ms <= old.at_ms and new.duration_ms == old.duration_ms for old, new in pairs)
    for (old, new), (later, moved) in pairwise(pairs):
        overlaps = later.at_ms < old.at_ms + old.duration_ms
        assert not overlaps or moved.at_ms - new.at_ms == later.at_ms - old.at_ms
    assert brought_forward(early) == early


def test_a_fault_that_needs_its_time_is_not_cut_below_it() -> None:
    plan = drawn("transfer-through-crashes", seconds=60)
    lengths = {fault.toxic.name: fault.duration_ms for fault in shortened(plan, 500).faults}
    assert lengths["pause"] == 4_000
    assert lengths["kill"] == 500


def test_a_role_begins_its_one_transaction_when_the_fault_is_on() -> None:
    plan = one_transaction_each(PLAN)
    assert {(role.at_ms, role.transactions) for role in plan.roles} == {(PLAN.faults[0].at_ms + 200, 1)}


def test_the_operations_of_a_finding_become_lines_of_the_lab() -> None:
    identity: dict[str, Json] = {
        "actor": "writer-2",
        "client": "wire-v1",
        "protocol": "v1",
        "producer_id": 7,
        "epoch": 3,
    }
    write: dict[str, Json] = {**identity, "verb": "produce", "topic": "t", "partition": 2, "txn": 9}
    rows: list[dict[str, Json]] = [
        {**identity, "verb": "begin", "outcome": "done"},
        {**write, "outcome": "done"},
        {**write, "outcome": "unsure", "reason": "no answer"},
        {**identity, "verb": "abort", "outcome": "done", "txn": 9},
    ]
    assert lab_sketch(rows).splitlines() == [
        'A = lab.partition("A")  # t-2',
        'txn1 = lab.producer("txn1")  # writer-2, wire-v1',
        "txn1.add(A, producer_id=7, epoch=3, version=3)",
        "txn1.produce(A, producer_id=7, epoch=3, sequence=0, version=9)  # done",
        "txn1.produce(A, producer_id=7, epoch=3, sequence=1, version=9)  # unsure: no answer",
        "txn1.end(commit=False, producer_id=7, epoch=3, version=3)  # done",
    ]
    assert lab_sketch([{**identity, "verb": "poll", "outcome": "done"}]).count("\n") == 0
