"""``python -m suites.model.refuted RUN``: which wrong models a real broker refutes, by what it was seen to do.

RUN is the folder of ``fencepost explore``, or of ``explore --slow``, which shows the wrong models of events; nothing is
asked again.
"""

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from harness.base.user_error import ExitCode, UserError
from harness.evidence.json_codec import Malformed, from_json
from harness.evidence.run_folder import RunFolder
from harness.explore.cell_results import CellSeen, KeptSeen
from harness.explore.comparison import compare
from harness.explore.findings import SEEN
from harness.model.events.model_event import ModelEvent, after_step, markers_wait
from harness.model.events.slow_cells import slow_cells
from harness.model.events.write_events import waiting_write
from harness.model.grid import GridCell, grid_cells
from harness.model.model_requests import ModelAnswer
from harness.model.model_state import ModelCluster, fresh_cluster
from harness.model.protocol_profile import ProtocolProfile
from harness.model.protocol_step import outcomes
from suites.in_a_sentence import in_a_sentence
from suites.model.mutants.all_mutants import MUTANTS
from suites.model.mutants.mutant import Mutant, ShownBy


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCell:
    """A cell that was reached. :param answers: To the steps of its path, which were as the model says."""

    cell: GridCell
    answers: tuple[ModelAnswer, ...]
    seen: CellSeen

    def contradicts(self, profile: ProtocolProfile) -> bool:
        """Whether the model in force says otherwise: of a step of the path, or of what is asked behind it."""
        answers, before = replayed(self.cell, profile)
        waits = waiting_write(self.cell.path)
        return answers != self.answers or bool(compare(before, self.cell.asked, profile, self.seen, waits))


def replayed(cell: GridCell, profile: ProtocolProfile) -> tuple[tuple[ModelAnswer, ...], ModelCluster]:
    """What the model in force says of a path, and the state that it leads to."""
    before, answers = fresh_cluster(*sorted(cell.before.logs)), []
    for index, one in enumerate(cell.path):
        if not isinstance(one, ModelEvent):
            answers.append(outcomes(before, one, profile)[0].answer)
        before = after_step(before, one, profile, held=markers_wait(cell.path[:index]))
    return tuple(answers), before


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenGrid:
    """Cells as a broker answered them, in an order of no meaning. :param shows: The mutants that they can tell."""

    profile: ProtocolProfile
    cells: Sequence[SeenCell]
    shows: ShownBy

    def refuting(self, mutant: Mutant) -> GridCell | None:
        """The first cell that is not as the wrong model says; None where all are."""
        with mutant.in_force():
            return next((each.cell for each in self.cells if each.contradicts(self.profile)), None)


def seen_grid(
    profile: ProtocolProfile, seen: Iterable[tuple[GridCell, CellSeen]], shows: ShownBy = ShownBy.REQUESTS
) -> SeenGrid:
    """With what the model says of their paths."""
    cells = [SeenCell(cell=cell, answers=replayed(cell, profile)[0], seen=each) for cell, each in seen]
    random.Random(0).shuffle(cells)
    return SeenGrid(profile=profile, cells=cells, shows=shows)


def read_seen_grid(path: Path) -> SeenGrid:
    """What ``fencepost explore`` has kept; :raises UserError: when that cannot be read."""
    run = cast(Mapping[str, Any], RunFolder.open(path, kind="explore").run())
    try:
        profile = ProtocolProfile(**run["profile"])
        offered = {api: (low, high) for api, (low, high) in run["apis"].items()}
        seen = dict(_seen(path))
    except (KeyError, TypeError, OSError, Malformed) as error:
        raise UserError(f"{path} is no whole exploration: {error}", exit=ExitCode.EVIDENCE_UNREADABLE) from error
    cells, shows = (slow_cells, ShownBy.EVENTS) if run.get("slow") else (grid_cells, ShownBy.REQUESTS)
    numbered = enumerate(cells(profile, offered), start=1)
    return seen_grid(profile, ((cell, seen[number]) for number, cell in numbered if number in seen), shows)


def _seen(path: Path) -> Iterator[tuple[int, CellSeen]]:
    with (path / SEEN).open(encoding="utf-8") as lines:
        for line in lines:
            kept = from_json(KeptSeen, line)
            yield kept.cell, kept.seen


def main(arguments: Sequence[str]) -> int:
    """Tell of each mutant whether it is refuted; exit code 1 where one agrees with every cell."""
    parser = argparse.ArgumentParser(prog="python -m suites.model.refuted", description=__doc__)
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of fencepost explore")
    grid = read_seen_grid(parser.parse_args(arguments).run)
    mutants = [each for each in MUTANTS if each.shown_by is grid.shows]
    left = 0
    for mutant in mutants:
        cell = grid.refuting(mutant)
        left += cell is None
        told = "agrees with every cell" if cell is None else f"refuted by {cell.request}, in «{cell.state}»"
        sys.stdout.write(f"{mutant.says}: {told}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(mutants) - left} of {len(mutants)} wrong models are refuted by {len(grid.cells)} cells\n")
    return bool(left)


if __name__ == "__main__":
    sys.exit(in_a_sentence(partial(main, sys.argv[1:])))
