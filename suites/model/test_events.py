"""Events beside requests, writes and markers that wait, and the slower part of the grid that is made of them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest
from msgspec import structs

from harness.model.events.model_event import (
    CoordinatorMoves,
    EpochsUsedUp,
    LeaderMoves,
    MarkersWait,
    ModelStep,
    TimeoutPasses,
    after_path,
    events_of,
)
from harness.model.events.slow_cells import slow_cells
from harness.model.events.write_events import (
    WriteLost,
    WritesOverlap,
    WriteWaits,
    after_writes,
    let_go,
    may_happen,
)
from harness.model.grid import OTHER_BEGINS, GridCell
from harness.model.model_requests import (
    AddPartitionsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelAnswer,
    ProduceAsked,
)
from harness.model.model_state import NONE, CoordinatorState, ModelCluster, fresh_cluster
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, ProtocolProfile
from harness.model.protocol_step import outcomes
from suites.model.mutants.all_mutants import MUTANTS
from suites.model.refuted import replayed

OFFERED = {"InitProducerId": (0, 5), "AddPartitionsToTxn": (0, 5), "Produce": (3, 12), "EndTxn": (0, 5)}
MARKERS = {**OFFERED, "WriteTxnMarkers": (1, 2)}
INIT = InitProducerIdAsked(id="own", version=4)
ADD = AddPartitionsAsked(id="own", version=3, producer_id=1, epoch=0, partitions=frozenset("A"))
NEW_WRITE = ProduceAsked(id="own", version=12, partition="A", producer_id=1, epoch=0, sequence=0)
OLD_WRITE = ProduceAsked(id="own", version=9, partition="A", producer_id=1, epoch=0, sequence=0)
ADDED = AddPartitionsAsked(id="own", version=3, producer_id=1, epoch=1, partitions=frozenset("A"))
ADDED_WRITE = ProduceAsked(id="own", version=9, partition="A", producer_id=1, epoch=1, sequence=0)
COMMIT = EndTxnAsked(id="own", version=5, producer_id=1, epoch=0, commit=True)
OLD_COMMIT = EndTxnAsked(id="own", version=3, producer_id=1, epoch=0, commit=True)


def after(*path: ModelStep, profile: ProtocolProfile = NEWEST) -> ModelCluster:
    """The state that a path of an id leads to, behind the beginning of every path."""
    return after_path(fresh_cluster("A", "B"), (OTHER_BEGINS, INIT, *path), profile)


def test_a_timeout_aborts_what_is_open_and_nothing_else() -> None:
    ended = after(NEW_WRITE, TimeoutPasses("own"))
    assert ended.ids["own"].state is CoordinatorState.COMPLETE_ABORT
    assert ended.ids["own"].epoch == 1
    assert ended.log("A").entries[-1].marker is False
    assert after(TimeoutPasses("own")) == after()


def test_another_coordinator_knows_no_last_epoch_and_writes_its_own_epoch_into_markers() -> None:
    claimed = after(InitProducerIdAsked(id="own", version=4, producer_id=1, epoch=0))
    assert claimed.ids["own"].last_epoch == 0
    moved = after(InitProducerIdAsked(id="own", version=4, producer_id=1, epoch=0), CoordinatorMoves())
    assert moved.ids["own"].last_epoch == NONE
    ended = after(NEW_WRITE, CoordinatorMoves(), COMMIT)
    assert ended.log("A").known(1).coordinator_epoch == 1
    assert after(NEW_WRITE, COMMIT, CoordinatorMoves()).log("A").known(1).coordinator_epoch == 0


def test_another_leader_knows_no_verification() -> None:
    refused = ProduceAsked(id="own", version=9, partition="A", producer_id=1, epoch=0, sequence=0)
    assert after(refused).log("A").verifications
    assert not after(refused, LeaderMoves("A")).log("A").verifications


def test_while_markers_wait_the_transaction_is_ending() -> None:
    held = after(NEW_WRITE, MarkersWait(), COMMIT)
    assert held.ids["own"].state is CoordinatorState.PREPARE_COMMIT
    assert held.log("A").known(1).open_since == 0
    for asked in (INIT, ADD, COMMIT):
        assert outcomes(held, asked, NEWEST)[0].answer.error == "CONCURRENT_TRANSACTIONS"


@pytest.mark.parametrize(
    ("write", "confirmed", "meanwhile", "answer"),
    [
        (NEW_WRITE, False, None, "NONE"),
        (NEW_WRITE, True, None, "NONE"),
        (NEW_WRITE, True, COMMIT, "INVALID_PRODUCER_EPOCH"),
        (OLD_WRITE, True, OLD_COMMIT, "INVALID_TXN_STATE"),
        (OLD_WRITE, False, OLD_COMMIT, "INVALID_TXN_STATE"),
        (OLD_WRITE, True, TimeoutPasses("own"), "INVALID_PRODUCER_EPOCH"),
    ],
)
def test_a_write_that_waited_is_answered_by_what_came_meanwhile(
    write: ProduceAsked, confirmed: bool, meanwhile: ModelStep | None, answer: str
) -> None:
    began = after(*(() if write is NEW_WRITE else (ADD,)), waits := WriteWaits(write, confirmed))
    now = began if meanwhile is None else after_path(began, (meanwhile,), NEWEST)
    finished = let_go(began, now, waits, NEWEST)
    assert finished.answer.error == answer
    appended = any(entry.marker is None for entry in finished.after.log("A").entries)
    assert appended == (answer == "NONE")


@pytest.mark.parametrize("confirmed", [False, True])
def test_a_question_comes_to_the_coordinator_of_before(confirmed: bool) -> None:
    began = after(waits := WriteWaits(NEW_WRITE, confirmed, moved=True))
    assert began.coordinator_epoch == 1
    finished = let_go(began, began, waits, NEWEST)
    assert finished.answer.error == ("NONE" if confirmed else "NOT_ENOUGH_REPLICAS")
    assert finished.after.ids["own"].state is (CoordinatorState.ONGOING if confirmed else CoordinatorState.EMPTY)
    assert outcomes(finished.after, NEW_WRITE, NEWEST)[0].answer.accepted


def test_a_write_waits_only_where_somebody_is_asked_and_says_yes() -> None:
    assert may_happen(after(ADD), WriteWaits(OLD_WRITE, confirmed=True), NEWEST)
    assert not may_happen(after(), WriteWaits(OLD_WRITE, confirmed=True), NEWEST)
    assert may_happen(after(), WriteWaits(OLD_WRITE, confirmed=False), NEWEST)
    assert not may_happen(after(NEW_WRITE), WriteWaits(NEW_WRITE, confirmed=False), NEWEST)


@pytest.mark.parametrize(("write", "confirmed"), [(NEW_WRITE, False), (NEW_WRITE, True), (OLD_WRITE, False)])
def test_a_write_whose_question_is_lost_is_to_be_tried_again_and_then_appended(
    write: ProduceAsked, confirmed: bool
) -> None:
    before = after(*(() if write is NEW_WRITE else (ADD,)))
    lost = after_writes(before, WriteLost(write, confirmed), NEWEST)
    assert lost.allowed == ((ModelAnswer("NOT_ENOUGH_REPLICAS"),),)
    assert not lost.after.log("A").entries
    assert ("A" in lost.after.ids["own"].partitions) == (confirmed or write is OLD_WRITE)
    assert outcomes(lost.after, write, NEWEST)[0].answer.accepted


@pytest.mark.parametrize(
    ("second", "allowed"),
    [
        (ADDED_WRITE, {("NOT_ENOUGH_REPLICAS", "NONE"), ("NONE", "NOT_ENOUGH_REPLICAS")}),
        (structs.replace(ADDED_WRITE, epoch=2), {("INVALID_PRODUCER_EPOCH", "INVALID_PRODUCER_EPOCH")}),
        (structs.replace(ADDED_WRITE, epoch=0), {("NONE", "INVALID_PRODUCER_EPOCH")}),
    ],
)
def test_of_two_writes_that_overlap_the_newer_one_is_asked_about(
    second: ProduceAsked, allowed: set[tuple[str, str]]
) -> None:
    before = after(INIT, ADDED)
    both = after_writes(before, WritesOverlap(ADDED_WRITE, second), NEWEST)
    assert {tuple(each.error for each in answers) for answers in both.allowed} == allowed
    assert len(both.after.log("A").entries) == any("NONE" in answers for answers in allowed)


def test_the_last_epochs_end_in_another_producer_id() -> None:
    last = after(EpochsUsedUp("own", left=0))
    assert (last.ids["own"].epoch, last.coordinator_epoch) == (32766, 1)
    assert outcomes(last, INIT, NEWEST)[0].answer == ModelAnswer(producer_id=2, epoch=0)
    one_left = after(EpochsUsedUp("own", left=1))
    assert outcomes(one_left, INIT, NEWEST)[0].answer == ModelAnswer(producer_id=1, epoch=32766)
    write = structs.replace(NEW_WRITE, epoch=32766)
    ended = outcomes(after_path(last, (write,), NEWEST), structs.replace(COMMIT, epoch=32766), NEWEST)[0]
    assert ended.answer == ModelAnswer(producer_id=2, epoch=0)


@pytest.mark.parametrize(
    ("profile", "identity"), [(NEWEST, (2, 0)), (replace(NEWEST, fence_rotates=False), (1, 32767))]
)
def test_what_a_coordinator_aborts_in_the_last_epoch_ends_in_another_producer_id_since_it_was_mended(
    profile: ProtocolProfile, identity: tuple[int, int]
) -> None:
    write = structs.replace(NEW_WRITE, epoch=32766)
    aborted = after(EpochsUsedUp("own", left=0), write, TimeoutPasses("own"), profile=profile)
    own = aborted.ids["own"]
    assert (own.state, own.producer_id, own.epoch) == (CoordinatorState.COMPLETE_ABORT, *identity)
    repeated = outcomes(aborted, structs.replace(COMMIT, epoch=32766, commit=False), profile)[0].answer
    assert repeated == ModelAnswer(producer_id=identity[0], epoch=identity[1])
    own_abort = structs.replace(COMMIT, producer_id=identity[0], epoch=identity[1], commit=False)
    ended = outcomes(aborted, own_abort, profile)[0].answer
    assert ended.error == ("NONE" if profile.fence_rotates else "UNKNOWN_SERVER_ERROR")


def test_a_producer_id_before_the_current_one_is_known_until_the_next_transition() -> None:
    rotated = after(EpochsUsedUp("own", left=0), INIT)
    assert rotated.ids["own"].previous_id == 1
    written = after_path(rotated, (structs.replace(NEW_WRITE, producer_id=2),), NEWEST)
    assert written.ids["own"].previous_id == NONE


def cells_by_event(profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]) -> Mapping[str, list[GridCell]]:
    """Of the slower part."""
    found: dict[str, list[GridCell]] = {}
    for cell in slow_cells(profile, offered):
        found.setdefault(events_of(cell.path)[0].split(" ")[0], []).append(cell)
    return found


def test_the_slower_part_has_every_event_and_each_cell_once() -> None:
    found = cells_by_event(NEWEST, MARKERS)
    moves = {"CoordinatorMoves", "CoordinatorLoads", "LeaderMoves"}
    links = {"MarkersWait", "WriteWaits", "WriteLost", "WritesOverlap"}
    assert found.keys() == {"TimeoutPasses", "EpochsUsedUp", *moves, *links}
    every = [cell for cells in found.values() for cell in cells]
    assert len(every) > 10_000
    assert any(events_of(cell.path) == ("CoordinatorMoves", "TimeoutPasses") for cell in found["CoordinatorMoves"])
    assert max(Counter((cell.state, cell.request) for cell in every).values()) == 1
    assert cells_by_event(OLD_PROTOCOL, {**MARKERS, "Produce": (3, 11), "EndTxn": (0, 4)}).keys() == found.keys()


def test_every_cell_of_the_slower_part_begins_where_its_path_leads() -> None:
    for cell in slow_cells(NEWEST, OFFERED, 3_000):
        assert after_path(fresh_cluster(*cell.before.logs), cell.path, NEWEST) == cell.before


def test_what_would_wait_itself_is_not_asked() -> None:
    for cell in cells_by_event(NEWEST, OFFERED)["WriteWaits"]:
        if isinstance(cell.asked, ProduceAsked):
            assert not may_happen(cell.before, WriteWaits(cell.asked, confirmed=False), NEWEST)
    assert all(cell.before.ids["own"].state.preparing for cell in cells_by_event(NEWEST, OFFERED)["MarkersWait"])


def test_a_path_with_events_is_replayed_by_the_model_in_force() -> None:
    for cell in [*slow_cells(NEWEST, OFFERED, 3_000)][::50]:
        assert replayed(cell, NEWEST)[1] == cell.before


def test_a_write_that_waits_shows_that_a_marker_leaves_the_verification() -> None:
    began = after(ADD, waits := WriteWaits(OLD_WRITE, confirmed=True))
    mutant = next(each for each in MUTANTS if each.says == "a marker leaves the verification")
    with mutant.in_force():
        now = after_path(began, (OLD_COMMIT,), NEWEST)
        assert let_go(began, now, waits, NEWEST).answer.error == "NONE"
