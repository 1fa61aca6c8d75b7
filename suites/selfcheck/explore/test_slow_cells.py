"""Cells with events: batches, what a target allows, coordinator epochs after moves, and a run on its way."""

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.explore.cell_exploration import Exploration
from harness.explore.cell_identities import NO_COORDINATORS, CellIdentities
from harness.explore.cell_results import not_reached
from harness.explore.cell_run import TIMED_OUT, CellRun
from harness.explore.comparison import compare
from harness.explore.events.planned_batches import (
    CONNECTIONS,
    IN_TIME,
    LEAST,
    SHARE,
    PlannedBatch,
    planned,
    smaller_batches,
)
from harness.explore.events.reach import EventReach
from harness.explore.findings import Findings, FreshResult
from harness.model.events.model_event import (
    CoordinatorLoads,
    CoordinatorMoves,
    EpochsUsedUp,
    LeaderMoves,
    MarkersWait,
    ModelEvent,
    ModelStep,
    TimeoutPasses,
    after_path,
)
from harness.model.events.write_events import WriteLost, WritesOverlap, WriteWaits
from harness.model.grid import GridCell
from harness.model.model_requests import EndTxnAsked, InitProducerIdAsked, ModelAnswer, ProduceAsked
from harness.model.model_state import fresh_cluster
from harness.model.protocol_profile import NEWEST
from suites.selfcheck.explore.test_comparison import COMMITTED

INIT = InitProducerIdAsked(id="own", version=4)
WRITE = ProduceAsked(id="own", version=12, partition="A", producer_id=0, epoch=0, sequence=0)
COMMIT = EndTxnAsked(id="own", version=5, producer_id=0, epoch=0, commit=True)
EVERYTHING = EventReach(brokers=3, changes=True, state_copies=3, links=True)


def cell(*path: ModelStep) -> GridCell:
    """What COMMIT is answered behind a path."""
    before = after_path(fresh_cluster("A", "B"), path, NEWEST)
    return GridCell(path=path, before=before, asked=COMMIT, state="", request="")


def run(*path: ModelStep) -> CellRun:
    who = CellIdentities(number=1, ids={"own": "x"}, places={"A": ("t", 0)}, coordinator_epochs={"own": 4})
    return CellRun(number=1, cell=cell(*path), who=who, profile=NEWEST)


def test_cells_with_the_same_events_are_asked_side_by_side() -> None:
    kinds: tuple[tuple[ModelEvent, ...], ...] = ((), (TimeoutPasses("own"),), (WriteWaits(WRITE, confirmed=True),))
    cells = [cell(INIT, *events) for events in kinds for _ in range(300)]
    batches = planned(list(enumerate(cells)))
    assert [len(each.cells) for each in batches] == [300, IN_TIME, 300 - IN_TIME, *(3 * [CONNECTIONS]), 12]
    assert [each.alone for each in batches] == [False, False, False, True, True, True, True]
    assert {number for each in batches for number, _ in each.cells} == set(range(900))


def test_cells_for_which_a_machine_was_too_slow_are_asked_again_in_smaller_batches_down_to_the_least() -> None:
    (batch,) = planned([(number, cell(INIT, TimeoutPasses("own"))) for number in range(IN_TIME)])
    too_slow = {*range(0, IN_TIME, 2)}
    smaller = smaller_batches(batch, too_slow)
    assert [len(each.cells) for each in smaller] == [IN_TIME // SHARE, IN_TIME // SHARE, 1]
    assert {number for each in smaller for number, _ in each.cells} == too_slow
    assert {each.events for each in smaller} == {batch.events}
    assert smaller_batches(batch, ()) == []
    sizes = [IN_TIME]
    while again := smaller_batches(batch, {number for number, _ in batch.cells}):
        batch = again[0]
        sizes.append(len(batch.cells))
    assert sizes == [IN_TIME, IN_TIME // SHARE, LEAST]


def test_a_cell_is_told_as_not_reached_once_its_batch_is_small_enough(tmp_path: Path) -> None:
    asked = [(number, cell(INIT, TimeoutPasses("own"))) for number in range(2 * LEAST)]
    results = [FreshResult(not_reached(number, each, TIMED_OUT)) for number, each in asked]
    other = FreshResult(not_reached(99, asked[0][1], "it is no matter of time"))
    exploration, found = SimpleNamespace(asked_again=Counter[str]()), Findings(folder=tmp_path)
    large, small = PlannedBatch(events=(), cells=asked), PlannedBatch(events=(), cells=asked[:LEAST])
    again = Exploration._added(exploration, found, large, [*results, other])  # type: ignore[arg-type]
    assert [len(each.cells) for each in again] == [LEAST, LEAST]
    assert (found.compared, exploration.asked_again.total()) == (1, 2 * LEAST)
    assert Exploration._added(exploration, found, small, results[:LEAST]) == ()  # type: ignore[arg-type]
    assert found.missed == {"it is no matter of time": 1, TIMED_OUT: LEAST}


def test_what_strikes_others_is_asked_alone_and_what_needs_it_apart() -> None:
    (moved,) = planned([(1, cell(INIT, LeaderMoves("A")))])
    (coordinated,) = planned([(1, cell(INIT, CoordinatorMoves()))])
    (held,) = planned([(1, cell(INIT, WRITE, MarkersWait()))])
    assert (moved.alone, moved.moves_leaders, moved.apart) == (True, True, True)
    assert (coordinated.alone, coordinated.moves_leaders, coordinated.apart) == (True, False, False)
    assert (held.alone, held.moves_leaders, held.apart) == (True, False, True)
    (loads,) = planned([(1, cell(INIT, CoordinatorLoads()))])
    assert (loads.alone, loads.loads, loads.moves_leaders, loads.apart) == (True, True, False, False)


@pytest.mark.parametrize(
    ("event", "reach", "why"),
    [
        (TimeoutPasses("own"), EventReach(brokers=1, changes=False, state_copies=0, links=False), None),
        (CoordinatorMoves(), EVERYTHING, None),
        (CoordinatorMoves(), EventReach(brokers=3, changes=True, state_copies=0, links=True), "not shown"),
        (CoordinatorMoves(), EventReach(brokers=3, changes=True, state_copies=1, links=True), "no other replica"),
        (CoordinatorMoves(), EventReach(brokers=3, changes=False, state_copies=3, links=True), "--allow-changes"),
        (CoordinatorLoads(), replace(EVERYTHING, owned=False), "a cluster of ours alone"),
        (CoordinatorLoads(), EventReach(brokers=3, changes=True, state_copies=1, links=True), "no other replica"),
        (LeaderMoves("A"), EventReach(brokers=1, changes=True, state_copies=3, links=True), "no other replica"),
        (LeaderMoves("A"), EventReach(brokers=3, changes=False, state_copies=3, links=True), "--allow-changes"),
        (MarkersWait(), EventReach(brokers=3, changes=True, state_copies=3, links=False), "links"),
        (EpochsUsedUp("own", left=0), replace(EVERYTHING, owned=False), "a cluster of ours alone"),
        (WriteLost(WRITE, confirmed=False), replace(EVERYTHING, links=False), "links"),
        (WriteWaits(WRITE, confirmed=False, moved=True), replace(EVERYTHING, links=False), "links"),
        (WriteWaits(WRITE, confirmed=False, moved=True), replace(EVERYTHING, changes=False), "--allow-changes"),
        (WritesOverlap(WRITE, WRITE), replace(EVERYTHING, links=False), "links"),
        (WriteWaits(WRITE, confirmed=False), EventReach(brokers=2, changes=True, state_copies=2, links=True), "links"),
    ],
)
def test_what_a_target_does_not_allow_is_out_of_reach_with_its_reason(
    event: ModelEvent, reach: EventReach, why: str | None
) -> None:
    found = reach.why_not((INIT, event))
    assert found is None if why is None else why in (found or "")
    assert EVERYTHING.why_not((INIT, event)) is None


def test_the_models_coordinator_epochs_follow_the_moves() -> None:
    who = CellIdentities(number=1, ids={"own": "x"}, places={}, coordinator_epochs={"own": 4})
    who.coordinators_moved({"own": 6})
    assert [who.real_coordinator_epoch(relative, 0) for relative in (-1, 0, 1, 2)] == [3, 4, 6, 7]
    assert [who.relative_coordinator_epoch(real, 0) for real in (3, 4, 6, 7)] == [-1, 0, 1, 2]
    assert who.relative_coordinator_epoch(5, 0) == NO_COORDINATORS


def test_an_event_is_a_step_that_is_not_asked() -> None:
    one = run(INIT, WRITE, TimeoutPasses("own"))
    one.take(INIT, ModelAnswer("NONE", 0, 0))
    one.take(WRITE, ModelAnswer())
    assert (one.next_request, one.next_event) == (None, TimeoutPasses("own"))
    one.happened()
    assert one.next_request == COMMIT
    assert one.expected == one.cell.before
    assert [each.answered for each in one.sent] == ["it has come about"]


@pytest.mark.parametrize("answered", ["NOT_ENOUGH_REPLICAS", "NONE", None])
def test_a_lost_write_that_is_answered_otherwise_is_told(answered: str | None) -> None:
    one = run(INIT, WriteLost(WRITE, confirmed=False))
    one.take(INIT, ModelAnswer("NONE", 0, 0))
    one.to_writes += [] if answered is None else [ModelAnswer(answered)]
    one.happened()
    assert (one.strayed is None) == (answered == "NOT_ENOUGH_REPLICAS")
    assert (one.next_request == COMMIT) == (one.strayed is None)


def test_markers_that_wait_are_waited_for_once_they_are_let_go() -> None:
    one = run(INIT, WRITE, MarkersWait())
    one.take(INIT, ModelAnswer("NONE", 0, 0))
    one.take(WRITE, ModelAnswer())
    one.happened()
    one.take(COMMIT, ModelAnswer("NONE", 0, 1))
    assert one.ending == frozenset()
    one.let_go()
    assert one.ending == {"own"}


def test_a_transaction_that_may_have_timed_out_unasked_is_missed() -> None:
    one = run(INIT, WRITE)
    one.who.timeout_ms = 5_000
    one.take(INIT, ModelAnswer("NONE", 0, 0))
    one.began = time.monotonic() - 6
    assert not one.is_late()
    one.take(WRITE, ModelAnswer())
    assert one.is_late()
    one.missed = "too slow"
    assert one.next_step is None


@pytest.mark.parametrize(("seconds", "missed"), [(6, True), (1, False)])
def test_an_answer_that_is_wrong_says_nothing_once_the_transaction_may_have_timed_out(
    seconds: int, missed: bool
) -> None:
    one = run(INIT, WRITE, WRITE)
    one.who.timeout_ms = 5_000
    one.take(INIT, ModelAnswer("NONE", 0, 0))
    one.began = time.monotonic() - seconds
    one.take(WRITE, ModelAnswer())
    one.take(WRITE, ModelAnswer("INVALID_PRODUCER_EPOCH"))
    assert (one.missed is not None, one.strayed is None) == (missed, missed)
    assert one.next_step is None


def test_a_transaction_that_nobody_aborts_is_no_fault_of_this_machine() -> None:
    one = run(INIT, WRITE, TimeoutPasses("own"))
    one.who.timeout_ms = 5_000
    one.take(INIT, ModelAnswer("NONE", 0, 0))
    one.began = time.monotonic() - 30
    one.take(WRITE, ModelAnswer())
    assert one.is_late()
    one.stray("aborted by its coordinator", "still open 25 s after it began")
    assert not one.is_late()


def test_a_write_that_waited_and_was_answered_otherwise_differs() -> None:
    waits = WriteWaits(WRITE, confirmed=True)
    before = after_path(fresh_cluster("A", "B"), (INIT, waits), NEWEST)
    told = {
        answer: {
            each.part for each in compare(before, COMMIT, NEWEST, replace(COMMITTED, waited=ModelAnswer(answer)), waits)
        }
        for answer in ("INVALID_PRODUCER_EPOCH", "NONE")
    }
    part = "answer of the write that waited"
    assert part in told["NONE"]
    assert part not in told["INVALID_PRODUCER_EPOCH"]
    assert part in {each.part for each in compare(before, COMMIT, NEWEST, COMMITTED, waits)}
