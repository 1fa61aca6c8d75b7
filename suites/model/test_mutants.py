"""Every wrong model is told from the right one: by a cell of the grid, or by an order of messages."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from harness.explore.comparison import expected_offset
from harness.explore.looks.group_look import ShownOffset
from harness.model.grid import GridCell, grid_cells
from harness.model.model_state import GROUP
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, ProtocolProfile
from harness.model.protocol_step import ModelOutcome, outcomes, settled
from harness.model.search.exploration import SearchedScope, explore
from suites.model.mutants.all_mutants import MUTANTS
from suites.model.mutants.mutant import Mutant, ShownBy
from suites.model.scopes import new_client, old_client
from suites.model.test_model_by_itself import OFFERED

CELLS = 20_000
"""Enough for the states that four requests lead to."""
NEW_GROUPS = replace(OLD_PROTOCOL, new_group_coordinator=True)
ORDERS = (
    (OLD_PROTOCOL, SearchedScope(clients=(old_client("one", GROUP),))),
    (NEWEST, SearchedScope(clients=(new_client("one", GROUP), new_client("two", GROUP, id_="u")))),
    (NEWEST, SearchedScope(clients=(new_client("one", GROUP),), moves=1)),
    (NEW_GROUPS, SearchedScope(clients=(old_client("one", GROUP), old_client("two", GROUP)))),
)
"""In which every promise holds."""


def shown_by(what: ShownBy) -> Sequence[Mutant]:
    """Those that it tells from the model."""
    return [each for each in MUTANTS if each.shown_by is what]


def predicted(cell: GridCell) -> tuple[ModelOutcome, ShownOffset]:
    """What the model in force says of a cell: the answer, the state once it has settled, and what the group shows."""
    outcome = outcomes(cell.before, cell.asked, NEWEST)[0]
    after = settled(outcome.after, NEWEST)
    return ModelOutcome(outcome.answer, after), expected_offset(after, GROUP)


@cache
def cells() -> Sequence[tuple[GridCell, tuple[ModelOutcome, ShownOffset]]]:
    """With what the right model says."""
    return [(cell, predicted(cell)) for cell in grid_cells(NEWEST, OFFERED, limit=CELLS)]


@pytest.mark.parametrize(
    "mutant", [each for each in MUTANTS if each.shown_by is ShownBy.REQUESTS], ids=lambda each: each.says
)
def test_a_cell_tells_it_from_the_model(mutant: Mutant) -> None:
    right = cells()
    with mutant.in_force():
        assert any(predicted(cell) != outcome for cell, outcome in right)


@pytest.mark.parametrize(
    "mutant", [each for each in MUTANTS if each.shown_by is ShownBy.ORDER], ids=lambda each: each.says
)
def test_an_order_of_messages_tells_it_from_the_model(mutant: Mutant) -> None:
    with mutant.in_force():
        assert any(explore(profile, scope).broken is not None for profile, scope in ORDERS)


@pytest.mark.parametrize(("profile", "scope"), ORDERS)
def test_every_promise_holds_in_the_orders_that_tell_mutants(profile: ProtocolProfile, scope: SearchedScope) -> None:
    assert explore(profile, scope).broken is None


def test_the_model_is_whole_again_after_a_mutant() -> None:
    with MUTANTS[0].in_force():
        pass
    assert all(predicted(cell) == outcome for cell, outcome in cells()[:200])
