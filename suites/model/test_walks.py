"""Walks are drawn, told apart by wrong models, and shrunk to the shortest that shows it."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import Phase, find, given, settings

from harness.explore.walks.drawn_walks import STEPS, WALK, drawn_walks, events_of_round, walks_with
from harness.model.alphabet import OTHER, PARTITIONS
from harness.model.events.model_event import ModelEvent, ModelStep, after_event, after_path, events_of
from harness.model.model_requests import InitProducerIdAsked
from harness.model.model_state import fresh_cluster
from harness.model.protocol_profile import NEWEST
from harness.model.protocol_step import ModelOutcome, outcomes, settled
from harness.model.sketch import sketch
from harness.model.walks import WalkAction, WalkStep, cell_of, cut, path_of
from suites.model.mutants import MUTANTS, Mutant

OFFLINE = settings(max_examples=1_000, deadline=None, database=None, phases=(Phase.generate, Phase.shrink))
FOUND_BY_WALKS = (
    "a new instance keeps the epoch",
    "a partition is added in any epoch",
    "a new client's end does not bump the epoch",
    "a marker leaves the transaction open",
)


def outcomes_of(path: Sequence[ModelStep]) -> Sequence[ModelOutcome]:
    """What the model in force says of each request, with all that is under way finished in between."""
    cluster, told = fresh_cluster(*PARTITIONS), list[ModelOutcome]()
    for asked in (InitProducerIdAsked(id=OTHER, version=4), *path):
        if isinstance(asked, ModelEvent):
            cluster = after_event(cluster, asked, NEWEST)
            continue
        outcome = outcomes(cluster, asked, NEWEST)[0]
        cluster = settled(outcome.after, NEWEST)
        told.append(ModelOutcome(outcome.answer, cluster))
    return told


def differs(steps: Sequence[WalkStep], mutant: Mutant) -> bool:
    """Whether the wrong model tells anything else of the walk."""
    requests = path_of(steps, NEWEST, new_protocol=True)
    right = outcomes_of(requests)
    with mutant.in_force():
        return outcomes_of(requests) != right


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(WALK)
def test_a_walk_is_no_longer_than_its_steps_and_the_same_each_time(steps: list[WalkStep]) -> None:
    requests = path_of(steps, NEWEST, new_protocol=True)
    assert len(requests) <= len(steps) <= STEPS
    assert requests == path_of(steps, NEWEST, new_protocol=True)
    assert sketch(requests).count("\n") == max(0, len(requests) - 1)


def test_a_message_that_is_late_is_composed_before_and_sent_after() -> None:
    steps = [
        WalkStep(WalkAction.START),
        WalkStep(WalkAction.WRITE, new_protocol=True, late=True),
        WalkStep(WalkAction.ABORT, new_protocol=True),
        WalkStep(WalkAction.LET_GO),
    ]
    requests = path_of(steps, NEWEST, new_protocol=True)
    assert [type(each).__name__ for each in requests] == ["InitProducerIdAsked", "EndTxnAsked", "ProduceAsked"]
    assert outcomes_of(requests)[-1].answer.error == "INVALID_PRODUCER_EPOCH"


@pytest.mark.parametrize("says", FOUND_BY_WALKS)
def test_a_wrong_model_is_found_by_walks_and_shrunk(says: str) -> None:
    mutant = next(each for each in MUTANTS if each.says == says)
    found = find(WALK, lambda steps: differs(steps, mutant), settings=OFFLINE, random=Random(1))
    shortest = cut(found, lambda steps: differs(steps, mutant))
    assert differs(shortest, mutant)
    assert len(shortest) <= 5


def test_walks_are_drawn_alike_for_the_same_number_and_not_for_another() -> None:
    assert drawn_walks(7, 50) == drawn_walks(7, 50)
    assert drawn_walks(7, 50) != drawn_walks(8, 50)
    assert len(drawn_walks(7, 50)) > 40


@settings(max_examples=100, deadline=None, database=None, derandomize=True)
@given(walks_with((WalkAction.TIME_OUT, WalkAction.MOVE_COORDINATOR)))
def test_all_walks_of_a_round_have_its_events_in_their_order(steps: list[WalkStep]) -> None:
    cell = cell_of(steps, NEWEST, new_protocol=True)
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
    cell = cell_of(steps, NEWEST, new_protocol=True)
    assert cell is not None
    assert events_of(cell.path) == ()
    assert cell_of(steps[1:], NEWEST, new_protocol=True) is None
    assert "lab.moves.coordinator(own)" in sketch(path_of(steps, NEWEST, new_protocol=True))
