"""Every wrong model is told from the right one: by a cell of the grid, or by an order of messages."""

from collections.abc import Sequence
from functools import cache

import pytest

from harness.model.exploration import explore
from harness.model.grid import GridCell, grid_cells
from harness.model.model_state import GROUP
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL
from harness.model.protocol_step import ModelOutcome, outcomes, settled
from suites.model.mutants import MUTANTS, Mutant
from suites.model.scopes import old_client
from suites.model.test_model_by_itself import OFFERED

CELLS = 20_000
"""Enough for the states that four requests lead to."""


def predicted(cell: GridCell) -> ModelOutcome:
    """What the model in force says of a cell: the answer, and the state once it has settled."""
    outcome = outcomes(cell.before, cell.asked, NEWEST)[0]
    return ModelOutcome(outcome.answer, settled(outcome.after, NEWEST))


@cache
def cells() -> Sequence[tuple[GridCell, ModelOutcome]]:
    """With what the right model says."""
    return [(cell, predicted(cell)) for cell in grid_cells(NEWEST, OFFERED, limit=CELLS)]


@pytest.mark.parametrize("mutant", [each for each in MUTANTS if each.in_order], ids=lambda each: each.says)
def test_a_cell_tells_it_from_the_model(mutant: Mutant) -> None:
    right = cells()
    with mutant.in_force():
        assert any(predicted(cell) != outcome for cell, outcome in right)


@pytest.mark.parametrize("mutant", [each for each in MUTANTS if not each.in_order], ids=lambda each: each.says)
def test_an_order_of_messages_tells_it_from_the_model(mutant: Mutant) -> None:
    with mutant.in_force():
        clients = (old_client("one"),), (old_client("one", GROUP),)
        assert any(explore(OLD_PROTOCOL, each).broken is not None for each in clients)


def test_the_model_is_whole_again_after_a_mutant() -> None:
    with MUTANTS[0].in_force():
        pass
    assert all(predicted(cell) == outcome for cell, outcome in cells()[:200])
