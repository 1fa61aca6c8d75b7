"""A broker that does as the model says refutes every wrong model by what an exploration looks at."""

from functools import cache

import pytest

from harness.explore.cell_results import CellSeen, SeenLog, SeenProducer
from harness.explore.comparison import expected_id, expected_offset
from harness.model.alphabet import OTHER, OWN
from harness.model.grid import GridCell, grid_cells
from harness.model.model_state import GROUP, PartitionLog
from harness.model.protocol_profile import NEWEST
from harness.model.protocol_step import outcomes, settled
from suites.model.mutants import MUTANTS, Mutant
from suites.model.refuted import SeenGrid, seen_grid
from suites.model.test_model_by_itself import OFFERED

CELLS = 11_000
UNSEEN = {
    "every write is verified anew": "the coordinator confirms what is going on",
    "old epochs are asked about": "the coordinator refuses them by the same name",
    "a marker leaves the verification": "the next write begins another one",
}
"""Wrong models that no look tells from the model while requests come one after the other, and why."""


def seen(cell: GridCell) -> CellSeen:
    """What a broker shows that does as the model says."""
    outcome = outcomes(cell.before, cell.asked, NEWEST)[0]
    after = settled(outcome.after, NEWEST)
    ids = {name: expected_id(after, name) for name in (OWN, OTHER)}
    logs = {name: shown_log(log) for name, log in after.logs.items()}
    return CellSeen(answer=outcome.answer, ids=ids, logs=logs, groups={GROUP: expected_offset(after, GROUP)})


def shown_log(log: PartitionLog) -> SeenLog:
    producers = tuple(
        SeenProducer(
            producer_id=number,
            epoch=known.epoch,
            last_sequence=known.last_sequence,
            open_since=known.open_since,
            coordinator_epoch=known.coordinator_epoch,
        )
        for number, known in log.producers.items()
    )
    return SeenLog(producers=producers, entries=log.entries)


@cache
def grid() -> SeenGrid:
    return seen_grid(NEWEST, ((cell, seen(cell)) for cell in grid_cells(NEWEST, OFFERED, limit=CELLS)))


def test_the_model_agrees_with_what_it_says() -> None:
    assert not any(each.contradicts(NEWEST) for each in grid().cells)


@pytest.mark.parametrize("mutant", [each for each in MUTANTS if each.in_order], ids=lambda each: each.says)
def test_a_wrong_model_is_refuted_where_it_can_be_seen(mutant: Mutant) -> None:
    assert (grid().refuting(mutant) is None) == (mutant.says in UNSEEN)
