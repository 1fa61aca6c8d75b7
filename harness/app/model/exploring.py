"""``fencepost explore A`` with its page, and ``fencepost compare A B``: the same cells asked of two targets."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version as installed_version

from harness.base.paths import WALKS
from harness.base.user_error import ExitCode
from harness.cluster.run_options import RunOptions
from harness.evidence.run_folder import RunFolder
from harness.explore.cell_exploration import explore
from harness.explore.explore_options import ExploreOptions
from harness.explore.findings import CELLS
from harness.explore.walks.walk_exploration import explore_walks
from harness.model.protocol_profile import ProtocolProfile
from harness.report.model.coverage import cell_lines
from harness.report.model.publish_coverage import publish_comparison, publish_coverage
from harness.report.model.two_targets import TargetDifference, TwoTargets, two_targets

MOST_TOLD = 10
"""Differences in the terminal; the page has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What the command line gives. :param run: Of the first target, and of the folder."""

    run: RunOptions
    second: str
    limit: int | None = None

    def of(self, target: str, folder: str, profile: ProtocolProfile | None) -> ExploreOptions:
        """The exploration of one of them."""
        run = replace(self.run, target=target, folder=self.run.folder / folder)
        return ExploreOptions(run=run, limit=self.limit, profile=profile)


def explore_target(options: ExploreOptions) -> ExitCode:
    """``fencepost explore``: the exploration, and its page, also of what was compared before a target was lost."""
    if options.walk_seconds is not None:
        return explore_walks(options, WALKS)
    try:
        return explore(options)
    finally:
        if (options.run.folder / CELLS).exists():
            fencepost = installed_version("fencepost")
            page = publish_coverage(options.run.folder, target=options.run.target, fencepost=fencepost)
            sys.stdout.write(f"report  {page}\n")


def compare_targets(options: CompareOptions) -> ExitCode:
    """Explore both, compare, and tell.

    :raises UserError: When a target cannot be had, or is lost on the way.
    """
    first = options.of(options.run.target, "first", None)
    explore_target(first)
    profile = ProtocolProfile(**RunFolder.open(first.run.folder, kind="explore").run()["profile"])  # type: ignore[arg-type]
    second = options.of(options.second, "second", profile)
    explore_target(second)
    found = two_targets(cell_lines(first.run.folder), cell_lines(second.run.folder))
    names = (options.run.target, options.second)
    page = publish_comparison(found, options.run.folder, names=names, fencepost=installed_version("fencepost"))
    sys.stdout.write("\n".join([*_told(found, names), f"report  {page}"]) + "\n")
    return ExitCode.BROKEN if found.differences or not found.compared else ExitCode.KEPT


def _told(found: TwoTargets, names: tuple[str, str]) -> Iterator[str]:
    yield (
        f"{found.compared} cells of {names[0]} and {names[1]} compared: {len(found.differences)} differ, "
        f"{found.reached_by_one} more were reached on one of them only"
    )
    for difference in found.differences[:MOST_TOLD]:
        yield from _difference(difference, names)
    if len(found.differences) > MOST_TOLD:
        yield f"… and {len(found.differences) - MOST_TOLD} more"


def _difference(difference: TargetDifference, names: tuple[str, str]) -> Iterator[str]:
    yield f"{difference.request}, in «{difference.state}»"
    for part, first, second in difference.parts:
        yield f"  {part}: {names[0]} shows {first}; {names[1]} shows {second}"
