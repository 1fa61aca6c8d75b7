"""The part of the grid that each failpoint is asked: one cell of each kind, and more of them where nothing is found.

Nothing here knows of any failpoint. What is quick and general comes first, then what an event leads to, then timeouts,
which take long, and then what the same events lead to in more states.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from random import Random
from typing import TypeAlias

from harness.model.alphabet import OWN
from harness.model.events.model_event import ModelEvent, TimeoutPasses
from harness.model.events.slow_cells import slow_cells, words
from harness.model.grid import GridCell, grid_cells
from harness.model.model_state import NONE, ModelCluster
from harness.model.protocol_profile import ProtocolProfile
from harness.model.protocol_step import ModelOutcome, outcomes, settled

Numbered: TypeAlias = tuple[int, GridCell]
Kind: TypeAlias = Callable[[GridCell, ModelOutcome], Hashable]
FIRST = 200
"""Cells of the first round: most of what changes an answer shows here."""
SEED = 1
"""Of the order within a round."""


def rounds_of_cells(profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]) -> Sequence[Sequence[Numbered]]:
    """No cell twice: some of the kinds of requests and states, the others, events, timeouts, more of the events."""
    quick = list(enumerate(grid_cells(profile, offered), start=1))
    slow = list(enumerate(slow_cells(profile, offered), start=len(quick) + 1))
    kinds = (_by_request, _by_state_and_answer, _by_memory)
    asked = _one_of_each([(each, _predicted(each[1], profile)) for each in quick], kinds)
    asked = _every_api_first(asked)
    events, timeouts = [_predicted_after(slow, profile, late=late) for late in (False, True)]
    some, many = (
        _one_of_each(events, (_by_event,)),
        _one_of_each(events, (_by_event, _by_event_and_state, _by_event_and_identity)),
    )
    taken = {number for number, _ in some}
    more = [each for each in many if each[0] not in taken]
    return [asked[:FIRST], asked[FIRST:], some, _one_of_each(timeouts, (_by_event_and_state,)), more]


def _every_api_first(asked: Sequence[Numbered]) -> list[Numbered]:
    """In an order of no meaning behind one of each API."""
    drawn = Random(SEED).sample(asked, len(asked))
    first = {type(cell.asked): (number, cell) for number, cell in reversed(drawn)}
    taken = {number for number, _ in first.values()}
    return [*first.values(), *(each for each in drawn if each[0] not in taken)]


def _predicted_after(
    cells: Iterable[Numbered], profile: ProtocolProfile, *, late: bool
) -> Sequence[tuple[Numbered, ModelOutcome]]:
    """:param late: Those of timeouts, or all others."""
    wanted = [each for each in cells if any(isinstance(one, TimeoutPasses) for one in each[1].path) == late]
    return [(each, _predicted(each[1], profile)) for each in wanted]


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
    return cell.request, outcome.answer.error, _changed(cell, outcome), cell.before.ids.get(OWN) is None


def _by_state_and_answer(cell: GridCell, outcome: ModelOutcome) -> Hashable:
    states = (_state(cell.before), _state(outcome.after))
    return type(cell.asked), cell.asked.version, outcome.answer.error, _changed(cell, outcome), states


def _by_memory(cell: GridCell, _outcome: ModelOutcome) -> Hashable:
    """By how many batches leaders remember of the id's producer."""
    known = cell.before.ids.get(OWN)
    logs = cell.before.logs.values() if known is not None else ()
    return type(cell.asked), max((len(log.known(known.producer_id).batches) for log in logs if known), default=0)


def _by_event(cell: GridCell, outcome: ModelOutcome) -> Hashable:
    """The newest and the oldest version of a request differ most, and come with what it answers."""
    return _events(cell), type(cell.asked), outcome.answer.error, _changed(cell, outcome)


def _events(cell: GridCell) -> tuple[str, ...]:
    return tuple(words(each) for each in cell.path if isinstance(each, ModelEvent))


def _by_event_and_state(cell: GridCell, outcome: ModelOutcome) -> Hashable:
    before = next(each for each in cell.path[::-1] if not isinstance(each, ModelEvent))
    return type(before), _state(cell.before), _by_event(cell, outcome)


def _by_event_and_identity(cell: GridCell, outcome: ModelOutcome) -> Hashable:
    """Identities of two producer ids may be answered alike, each for its own reason."""
    known = cell.before.ids.get(OWN)
    before = NONE if known is None else known.previous_id
    named = before != NONE and getattr(cell.asked, "producer_id", NONE) == before
    return named, _state(cell.before), _by_event(cell, outcome)


def _state(cluster: ModelCluster) -> str:
    known = cluster.ids.get(OWN)
    return "" if known is None else f"{known.state}{' in its last epoch' if known.exhausted else ''}"
