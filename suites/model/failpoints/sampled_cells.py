"""The part of the grid that each failpoint is asked: one cell of each kind, and more of them where nothing is found.

Nothing here knows of any failpoint. What is quick and general comes first, then what an event leads to, and what takes
the longest, timeouts, last.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from random import Random
from typing import TypeAlias

from harness.model.alphabet import OWN
from harness.model.events.model_event import ModelEvent, TimeoutPasses, events_of
from harness.model.events.slow_cells import slow_cells
from harness.model.grid import GridCell, grid_cells
from harness.model.model_state import ModelCluster
from harness.model.protocol_profile import ProtocolProfile
from harness.model.protocol_step import ModelOutcome, outcomes, settled

Numbered: TypeAlias = tuple[int, GridCell]
Kind: TypeAlias = Callable[[GridCell, ModelOutcome], Hashable]
FIRST = 200
"""Cells of the first round: most of what changes an answer shows here."""
SEED = 1
"""Of the order within a round."""


def rounds_of_cells(profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]) -> Sequence[Sequence[Numbered]]:
    """No cell twice: some of the kinds of requests and states, the others, events, timeouts."""
    quick = list(enumerate(grid_cells(profile, offered), start=1))
    slow = list(enumerate(slow_cells(profile, offered), start=len(quick) + 1))
    asked = _one_of_each([(each, _predicted(each[1], profile)) for each in quick], (_by_request, _by_state_and_answer))
    asked = _every_api_first(asked)
    slow_ones = [_after_events(slow, profile, late=late) for late in (False, True)]
    return [asked[:FIRST], asked[FIRST:], *slow_ones]


def _every_api_first(asked: Sequence[Numbered]) -> list[Numbered]:
    """In an order of no meaning behind one of each API."""
    drawn = Random(SEED).sample(asked, len(asked))
    first = {type(cell.asked): (number, cell) for number, cell in reversed(drawn)}
    taken = {number for number, _ in first.values()}
    return [*first.values(), *(each for each in drawn if each[0] not in taken)]


def _after_events(cells: Iterable[Numbered], profile: ProtocolProfile, *, late: bool) -> Sequence[Numbered]:
    """One of each kind of each event. :param late: Those of timeouts, or all others."""
    wanted = [each for each in cells if any(isinstance(one, TimeoutPasses) for one in each[1].path) == late]
    return _one_of_each([(each, _predicted(each[1], profile)) for each in wanted], (_by_event,))


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


def _by_event(cell: GridCell, outcome: ModelOutcome) -> Hashable:
    """The newest and the oldest version of a request differ most, and come with what it answers."""
    request = type(cell.asked), outcome.answer.error, _changed(cell, outcome)
    before = next(each for each in cell.path[::-1] if not isinstance(each, ModelEvent))
    return events_of(cell.path), type(before), _state(cell.before), request


def _state(cluster: ModelCluster) -> str:
    known = cluster.ids.get(OWN)
    return "" if known is None else f"{known.state}{' in its last epoch' if known.exhausted else ''}"
