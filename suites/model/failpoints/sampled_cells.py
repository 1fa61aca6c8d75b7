"""The part of the grid that each failpoint is asked: one cell of each kind, and more of them where nothing is found."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from random import Random
from typing import TypeAlias

from harness.model.alphabet import OWN
from harness.model.grid import GridCell, grid_cells
from harness.model.model_state import ModelCluster
from harness.model.protocol_profile import ProtocolProfile
from harness.model.protocol_step import ModelOutcome, outcomes, settled

Numbered: TypeAlias = tuple[int, GridCell]
Kind: TypeAlias = Callable[[GridCell, ModelOutcome], Hashable]
FIRST = 200
"""Cells of the first round: most of what changes an answer shows here."""
SEED = 1
"""Of the order within a kind's round, so that the first round has requests of every API."""


def rounds_of_cells(profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]) -> Sequence[Sequence[Numbered]]:
    """Three rounds, no cell twice: some of the kinds of requests, the others, and the kinds of states."""
    predicted = [(each, _predicted(each[1], profile)) for each in enumerate(grid_cells(profile, offered), start=1)]
    asked = _one_of_each(predicted, (_by_request, _by_state_and_answer))
    taken = {number for number, _ in asked}
    more = [each for each in _one_of_each(predicted, (_by_whole_state,)) if each[0] not in taken]
    Random(SEED).shuffle(asked)
    return [asked[:FIRST], asked[FIRST:], more]


def _predicted(cell: GridCell, profile: ProtocolProfile) -> ModelOutcome:
    outcome = outcomes(cell.before, cell.asked, profile)[0]
    return ModelOutcome(outcome.answer, settled(outcome.after, profile))


def _one_of_each(predicted: Iterable[tuple[Numbered, ModelOutcome]], kinds: Sequence[Kind]) -> list[Numbered]:
    """The first cell of each kind; the grid has those of the shortest paths first."""
    found: dict[Hashable, Numbered] = {}
    for (number, cell), outcome in predicted:
        for index, kind in enumerate(kinds):
            found.setdefault((index, kind(cell, outcome)), (number, cell))
    return sorted(dict(chain(found.values())).items())


def _changed(cell: GridCell, outcome: ModelOutcome) -> tuple[bool, bool]:
    return outcome.after.ids != cell.before.ids, outcome.after.logs != cell.before.logs


def _by_request(cell: GridCell, outcome: ModelOutcome) -> Hashable:
    return cell.request, outcome.answer.error, _changed(cell, outcome)


def _by_state_and_answer(cell: GridCell, outcome: ModelOutcome) -> Hashable:
    states = (_state(cell.before), _state(outcome.after))
    return type(cell.asked), cell.asked.version, outcome.answer.error, _changed(cell, outcome), states


def _by_whole_state(cell: GridCell, outcome: ModelOutcome) -> Hashable:
    head = cell.state.partition(";")[0]
    return cell.request.partition(",")[0], head, outcome.answer.error, _changed(cell, outcome)


def _state(cluster: ModelCluster) -> str:
    known = cluster.ids.get(OWN)
    return "" if known is None else str(known.state)
