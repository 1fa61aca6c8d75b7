"""``fencepost explore``: every cell of a target, and what came of all of them."""

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict

from harness.base.paths import EXPLAINED
from harness.base.user_error import ExitCode
from harness.explore.cell_exploration import Exploration, open_exploration
from harness.explore.explained import read_explanations
from harness.explore.explore_options import ExploreOptions, read_earlier_cells
from harness.explore.findings import CellProgress, Findings, summary
from harness.model.grid import GridCell


def explore(options: ExploreOptions) -> ExitCode:
    """Open the target, ask it every cell, tell what came of it, also of what was compared before an interrupt.

    :raises UserError: When the target cannot be had, or knows no transactions.
    """
    with open_exploration(options.continued()) as exploration:
        return explore_cells(exploration)


def explore_cells(exploration: Exploration) -> ExitCode:
    """The same of a target that is up."""
    options, folder = exploration.options, exploration.folder
    profile = exploration.profile()
    folder.add_to_run({"profile": asdict(profile)})
    found = Findings(folder=folder.path, explanations=read_explanations(EXPLAINED, profile))
    numbered = exploration.cells(profile)
    left = _not_yet(numbered, options, found)
    options.run.progress(f"{len(left)} cells; expected of the target: {profile}")
    found.progress = CellProgress(total=len(numbered), already=found.compared, tell=options.run.progress)
    started, why_lost = time.monotonic(), "interrupted"
    try:
        why_lost = exploration.explore(left, profile, found) or ""
    finally:
        seconds = time.monotonic() - started
        whole = options.limit is None and exploration.cluster.owned and not (options.slow or why_lost)
        stale = found.stale() if whole else ()
        told = [*summary(found, len(numbered), seconds, exploration.asked_again, len(exploration.late))]
        told += [f"no longer true, take it out of {EXPLAINED.name}: {each.reason}" for each in stale]
        told += [how_to_resume(options)] if why_lost else []
        folder.add_to_run({"seconds": round(seconds, 1), "summary": list(told)})
        folder.seal()
        sys.stdout.write("\n".join([*told, f"all of it: {folder.path}"]) + "\n")
    if why_lost:
        exploration.lost(found.compared, why_lost)
    return ExitCode.BROKEN if stale or found.unexplained() or not found.reached else ExitCode.KEPT


def _not_yet(
    numbered: Sequence[tuple[int, GridCell]], options: ExploreOptions, found: Findings
) -> Sequence[tuple[int, GridCell]]:
    """Without those that the exploration which is resumed has compared; its results are kept here."""
    if options.resume is None:
        return numbered
    earlier = read_earlier_cells(options.resume)
    found.keep_earlier(earlier.results.values(), earlier.seen)
    options.run.progress(f"{len(earlier.results)} cells are of {options.resume}")
    return [(number, cell) for number, cell in numbered if number not in earlier.results]


def how_to_resume(options: ExploreOptions) -> str:
    """The command that goes on behind what this one has compared."""
    walks = f" --walks {options.walk_seconds:g}s" if options.walk_seconds is not None else ""
    return f"to go on: fencepost explore {options.run.target}{walks} --resume {options.run.folder}"
