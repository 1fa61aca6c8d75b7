"""``fencepost compare A B``: the same cells and walks asked of two targets, and where they differ."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version as installed_version

from harness.app.model.exploring import page_of_cells
from harness.base.user_error import ExitCode
from harness.cluster.run_options import RunOptions
from harness.explore.explore_options import ExploreOptions
from harness.explore.findings import CELLS
from harness.explore.walks.same_walks import CUT, WHOLE, AskedWalks, CutWalks, ask_first, ask_first_again, ask_second
from harness.explore.walks.walk_exploration import KEPT, FoundWalk, keep_walks
from harness.model.protocol_profile import ProtocolProfile
from harness.model.sketch import sketch
from harness.model.walks import path_of
from harness.report.model.coverage import CellLine, cell_lines
from harness.report.model.publish_coverage import ComparedSection, publish_comparison
from harness.report.model.two_targets import TargetDifference, two_targets, two_walks

WALK_SECONDS = 20.0
"""For which the first target is asked walks, unless told."""
MOST_TOLD = 10
"""Differences of each section in the terminal; the page has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What the command line gives. :param run: Of the first target, and of the folder."""

    run: RunOptions
    second: str
    limit: int | None = None
    walk_seconds: float = WALK_SECONDS

    @property
    def names(self) -> tuple[str, str]:
        return self.run.target, self.second

    def of(self, target: str, folder: str, profile: ProtocolProfile | None = None) -> ExploreOptions:
        """The exploration of one of them; what coordinators write down is nothing that a client is shown."""
        run = replace(self.run, target=target, folder=self.run.folder / folder)
        return ExploreOptions(run=run, limit=self.limit, profile=profile, records=False)


def compare_targets(options: CompareOptions) -> ExitCode:
    """Explore both, compare, and tell.

    :raises UserError: When a target cannot be had, or is lost on the way.
    """
    first = options.of(options.run.target, "first")
    with page_of_cells(first):
        asked = ask_first(first, options.walk_seconds)
    second = options.of(options.second, "second", asked.profile)
    with page_of_cells(second):
        cut = ask_second(second, asked)
    again = options.of(options.run.target, "first-again", asked.profile)
    if cut.found:
        ask_first_again(again, asked, cut.found)
    return _tell(options, _sections(first, second, again), asked, cut)


def _tell(options: CompareOptions, sections: Sequence[ComparedSection], asked: AskedWalks, cut: CutWalks) -> ExitCode:
    page = publish_comparison(
        sections, options.run.folder, names=options.names, fencepost=installed_version("fencepost")
    )
    shortest = _shortest(sections[-1], cut)
    keep_walks(options.run.folder / KEPT, shortest.values())
    told = [line for section in sections for line in _section(section, options.names)]
    told += [line for number, each in shortest.items() for line in _sketched(number, each, asked)]
    told += [*_missed(options.run.target, asked.missed), *_missed(options.second, cut.missed)]
    sys.stdout.write("\n".join([*told, f"report  {page}"]) + "\n")
    differ = any(section.found.differences for section in sections)
    return ExitCode.BROKEN if differ or not any(section.found.compared for section in sections) else ExitCode.KEPT


def _sections(first: ExploreOptions, second: ExploreOptions, again: ExploreOptions) -> Sequence[ComparedSection]:
    """The last one is of walks that are cut."""
    cut = two_walks(_lines(again, CUT), _lines(second, CUT))
    return (
        ComparedSection(title="Cells", what="cells", found=two_targets(_lines(first), _lines(second))),
        ComparedSection(title="Walks", what="walks", found=two_walks(_lines(first, WHOLE), _lines(second, WHOLE))),
        ComparedSection(title="Walks cut to the shortest", what="walks that were cut", found=cut),
    )


def _lines(options: ExploreOptions, below: str = "") -> Sequence[CellLine]:
    """None where nothing was asked."""
    folder = options.run.folder / below
    return [*cell_lines(folder)] if (folder / CELLS).exists() else []


def _shortest(section: ComparedSection, cut: CutWalks) -> Mapping[int, FoundWalk]:
    """Those in which both targets, asked once more, differ; by their numbers."""
    return {each.cell: cut.found[each.cell - 1] for each in section.found.differences}


def _sketched(number: int, each: FoundWalk, asked: AskedWalks) -> Iterator[str]:
    yield f"walk {number} of those that were cut:"
    yield sketch(path_of(each.steps, asked.profile, asked.offer))


def _section(section: ComparedSection, names: tuple[str, str]) -> Iterator[str]:
    found = section.found
    yield (
        f"{found.compared} {section.what} of {names[0]} and {names[1]} compared: {len(found.differences)} differ, "
        f"{found.reached_by_one} more were reached on one of them only"
    )
    for difference in found.differences[:MOST_TOLD]:
        yield from _difference(difference, names)
    if len(found.differences) > MOST_TOLD:
        yield f"… and {len(found.differences) - MOST_TOLD} more"


def _difference(difference: TargetDifference, names: tuple[str, str]) -> Iterator[str]:
    yield difference.name
    for part, first, second in difference.parts:
        yield f"  {part}: {names[0]} shows {first}; {names[1]} shows {second}"


def _missed(name: str, missed: Mapping[str, int]) -> Iterator[str]:
    for why, number in sorted(missed.items()):
        yield f"not walked to their ends on {name}, {number} walks: {why}"
