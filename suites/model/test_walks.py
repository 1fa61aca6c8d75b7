"""Walks are drawn, told apart by wrong models, and shrunk to the shortest that shows it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import Phase, find, given, settings

from harness.explore.cell_results import CellOutcome, CellResult
from harness.explore.walks.drawn_walks import STEPS, WALK, drawn_walks, events_of_round, walks_with
from harness.explore.walks.walk_exploration import FoundWalk, keep_walks, read_walks
from harness.model.alphabet import OTHER, PARTITIONS
from harness.model.events.model_event import ModelEvent, ModelStep, after_event, after_path, events_of
from harness.model.model_requests import InitProducerIdAsked, TxnOffsetCommitAsked
from harness.model.model_state import fresh_cluster
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, ProtocolProfile
from harness.model.protocol_step import ModelOutcome, outcomes, settled
from harness.model.sketch import sketch
from harness.model.walks import OF_GROUPS, WalkAction, WalkOffer, WalkStep, cell_of, cut, path_of
from suites.model.mutants.all_mutants import MUTANTS
from suites.model.mutants.mutant import Mutant

EVERYTHING = WalkOffer()
OFFLINE = settings(max_examples=1_000, deadline=None, database=None, phases=(Phase.generate, Phase.shrink))
FOUND_BY_WALKS = (
    "a new instance keeps the epoch",
    "a partition is added in any epoch",
    "a new client's end does not bump the epoch",
    "a marker leaves the transaction open",
    "offsets add no partition",
    "a pending offset is shown",
    "a committed offset is not shown",
    "the first of two pending offsets counts",
)


def outcomes_of(path: Sequence[ModelStep], profile: ProtocolProfile = NEWEST) -> Sequence[ModelOutcome]:
    """What the model in force says of each request, with all that is under way finished in between."""
    cluster, told = fresh_cluster(*PARTITIONS), list[ModelOutcome]()
    for asked in (InitProducerIdAsked(id=OTHER, version=4), *path):
        if isinstance(asked, ModelEvent):
            cluster = after_event(cluster, asked, profile)
            continue
        outcome = outcomes(cluster, asked, profile)[0]
        cluster = settled(outcome.after, profile)
        told.append(ModelOutcome(outcome.answer, cluster))
    return told


def differs(steps: Sequence[WalkStep], mutant: Mutant) -> bool:
    """Whether the wrong model tells anything else of the walk."""
    requests = path_of(steps, NEWEST, EVERYTHING)
    right = outcomes_of(requests)
    with mutant.in_force():
        return outcomes_of(requests) != right


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(WALK)
def test_a_walk_is_no_longer_than_its_steps_and_the_same_each_time(steps: list[WalkStep]) -> None:
    requests = path_of(steps, NEWEST, EVERYTHING)
    assert len(requests) <= len(steps) <= STEPS
    assert requests == path_of(steps, NEWEST, EVERYTHING)
    assert sketch(requests).count("\n") == max(0, len(requests) - 1)


def test_a_message_that_is_late_is_composed_before_and_sent_after() -> None:
    steps = [
        WalkStep(WalkAction.START),
        WalkStep(WalkAction.WRITE, new_protocol=True, late=True),
        WalkStep(WalkAction.ABORT, new_protocol=True),
        WalkStep(WalkAction.LET_GO),
    ]
    requests = path_of(steps, NEWEST, EVERYTHING)
    assert [type(each).__name__ for each in requests] == ["InitProducerIdAsked", "EndTxnAsked", "ProduceAsked"]
    assert outcomes_of(requests)[-1].answer.error == "INVALID_PRODUCER_EPOCH"


@pytest.mark.parametrize("says", FOUND_BY_WALKS)
def test_a_wrong_model_is_found_by_walks_and_shrunk(says: str) -> None:
    mutant = next(each for each in MUTANTS if each.says == says)
    found = find(WALK, lambda steps: differs(steps, mutant), settings=OFFLINE, random=Random(1))
    shortest = cut(found, lambda steps: differs(steps, mutant))
    assert differs(shortest, mutant)
    assert len(shortest) <= 5


def test_a_refused_offset_that_takes_the_accepted_one_with_it_is_found_by_walks_and_shrunk() -> None:
    sound = replace(OLD_PROTOCOL, new_group_coordinator=True)

    def shows(steps: Sequence[WalkStep]) -> bool:
        requests = path_of(steps, OLD_PROTOCOL, WalkOffer(new_protocol=False))
        return outcomes_of(requests, OLD_PROTOCOL) != outcomes_of(requests, sound)

    shortest = cut(find(WALK, shows, settings=OFFLINE, random=Random(1)), shows)
    assert [each.action for each in shortest][-2:] == [WalkAction.COMMIT_OFFSET, WalkAction.COMMIT_OFFSET]
    assert len(shortest) <= 5


def test_offsets_are_left_out_where_no_group_can_be_looked_at() -> None:
    steps = [WalkStep(action) for action in (WalkAction.START, *OF_GROUPS, WalkAction.COMMIT)]
    spoken = path_of(steps, NEWEST, WalkOffer(groups=False))
    assert [type(each).__name__ for each in spoken] == ["InitProducerIdAsked", "EndTxnAsked"]


@pytest.mark.parametrize(("new", "version"), [(True, 5), (False, 3)])
def test_an_offset_is_the_steps_place_in_the_walk_and_no_other_is_like_it(new: bool, version: int) -> None:
    steps = [WalkStep(WalkAction.START), *(WalkStep(WalkAction.COMMIT_OFFSET, new_protocol=True) for _ in range(2))]
    _, *commits = path_of(steps, NEWEST, WalkOffer(new_protocol=new))
    told = [(each.version, each.offset) for each in commits if isinstance(each, TxnOffsetCommitAsked)]
    assert told == [(version, 1), (version, 2)]


def test_walks_with_offsets_are_read_as_they_were_kept(tmp_path: Path) -> None:
    walk = (WalkStep(WalkAction.START), WalkStep(WalkAction.COMMIT_OFFSET, instance=1, late=True))
    result = CellResult(cell=1, state="", request="", outcome=CellOutcome.DIFFERS, steps=0)
    keep_walks(tmp_path / "walks.jsonl", [FoundWalk(steps=walk, share="3 of 3", result=result)])
    assert read_walks(tmp_path / "walks.jsonl") == [walk]


def test_walks_are_drawn_alike_for_the_same_number_and_not_for_another() -> None:
    assert drawn_walks(7, 50) == drawn_walks(7, 50)
    assert drawn_walks(7, 50) != drawn_walks(8, 50)
    assert len(drawn_walks(7, 50)) > 40


@settings(max_examples=100, deadline=None, database=None, derandomize=True)
@given(walks_with((WalkAction.TIME_OUT, WalkAction.MOVE_COORDINATOR)))
def test_all_walks_of_a_round_have_its_events_in_their_order(steps: list[WalkStep]) -> None:
    cell = cell_of(steps, NEWEST, EVERYTHING)
    assert cell is not None
    assert events_of(cell.path) == ("TimeoutPasses", "CoordinatorMoves")
    assert after_path(fresh_cluster(*cell.before.logs), cell.path, NEWEST) == cell.before


def test_most_rounds_are_without_events_and_every_event_has_rounds() -> None:
    rounds = [events_of_round(number) for number in range(100)]
    assert rounds.count(()) >= 40
    assert {event for events in rounds for event in events} == {
        WalkAction.TIME_OUT,
        WalkAction.MOVE_COORDINATOR,
        WalkAction.MOVE_LEADER,
    }


def test_an_event_that_nobody_asks_after_is_no_part_of_a_walk() -> None:
    steps = [WalkStep(WalkAction.START), WalkStep(WalkAction.MOVE_COORDINATOR)]
    cell = cell_of(steps, NEWEST, EVERYTHING)
    assert cell is not None
    assert events_of(cell.path) == ()
    assert cell_of(steps[1:], NEWEST, EVERYTHING) is None
    assert "lab.moves.coordinator(own)" in sketch(path_of(steps, NEWEST, EVERYTHING))
