"""A broker that does as the model says refutes every wrong model by what an exploration looks at."""

from functools import cache
from pathlib import Path

import pytest

from harness.base.user_error import ExitCode
from harness.explore.cell_results import CellSeen, SeenLog, SeenProducer
from harness.explore.comparison import expected_id, expected_offset
from harness.model.alphabet import OTHER, OWN
from harness.model.events.model_event import events_of
from harness.model.events.slow_cells import slow_cells
from harness.model.events.write_events import let_go, waiting_write
from harness.model.grid import GridCell, grid_cells
from harness.model.model_state import GROUP, PartitionLog
from harness.model.protocol_profile import NEWEST
from harness.model.protocol_step import outcomes, settled
from suites.in_a_sentence import in_a_sentence
from suites.model.mutants.all_mutants import MUTANTS
from suites.model.mutants.mutant import Mutant, ShownBy
from suites.model.refuted import SeenGrid, main, seen_grid
from suites.model.test_model_by_itself import OFFERED

CELLS = 11_000
UNSEEN = {
    "every write is verified anew": "the coordinator confirms what is going on",
    "old epochs are asked about": "the coordinator refuses them by the same name",
    "the first of two pending offsets counts": "no path of the grid commits twice in a transaction: walks do",
}
"""Wrong models that no look tells from the model while requests come one after the other, and why."""

MOVES = {"LeaderMoves A", "CoordinatorMoves"}


def mutant_name(mutant: Mutant) -> str:
    """Of a test."""
    return mutant.says


def seen(cell: GridCell) -> CellSeen:
    """What a broker shows that does as the model says, once nothing is held any more."""
    outcome, waits = outcomes(cell.before, cell.asked, NEWEST)[0], waiting_write(cell.path)
    after, waited = settled(outcome.after, NEWEST), None
    if waits is not None:
        finished = let_go(cell.before, after, waits, NEWEST)
        after, waited = settled(finished.after, NEWEST), finished.answer
    ids = {name: expected_id(after, name) for name in (OWN, OTHER)}
    logs = {name: shown_log(log) for name, log in after.logs.items()}
    groups = {GROUP: expected_offset(after, GROUP)}
    return CellSeen(answer=outcome.answer, ids=ids, logs=logs, groups=groups, waited=waited)


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


@cache
def slow_grid() -> SeenGrid:
    """Every fourth cell, and all after a move: few of them show a verification, or the last epoch."""
    numbered = enumerate(slow_cells(NEWEST, OFFERED))
    cells = (cell for number, cell in numbered if number % 4 == 0 or MOVES & {*events_of(cell.path)})
    return seen_grid(NEWEST, ((cell, seen(cell)) for cell in cells), ShownBy.EVENTS)


def test_the_model_agrees_with_what_it_says() -> None:
    assert not any(each.contradicts(NEWEST) for each in grid().cells)


@pytest.mark.parametrize("mutant", [each for each in MUTANTS if each.shown_by is ShownBy.REQUESTS], ids=mutant_name)
def test_a_wrong_model_is_refuted_where_it_can_be_seen(mutant: Mutant) -> None:
    assert (grid().refuting(mutant) is None) == (mutant.says in UNSEEN)


@pytest.mark.parametrize("mutant", [each for each in MUTANTS if each.shown_by is ShownBy.EVENTS], ids=mutant_name)
def test_a_wrong_model_of_events_is_refuted_by_slow_cells(mutant: Mutant) -> None:
    assert slow_grid().refuting(mutant) is not None


def test_what_is_no_exploration_is_told_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert in_a_sentence(lambda: main([str(tmp_path)])) == ExitCode.EVIDENCE_UNREADABLE
    assert "is no run folder" in capsys.readouterr().err
