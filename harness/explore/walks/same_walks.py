"""The walks of a comparison: two targets are asked the same ones, one target after the other.

Messages are composed by what the model says of the first target. Every second walk has messages of the old protocol
alone, which a second target without transactions of version 2 can be asked too. What differs on the second target
alone is cut there, one walk of each kind; both targets are asked what is left.
"""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import count, takewhile

from harness.evidence.run_folder import RunFolder
from harness.explore.cell_exploration import Exploration, open_exploration
from harness.explore.cell_results import CellOutcome, CellResult
from harness.explore.explore_options import ExploreOptions
from harness.explore.explored_cells import explore_cells
from harness.explore.walks.drawn_walks import walks_of_round
from harness.explore.walks.walk_exploration import FoundWalk, Walk, WalkSearch
from harness.model.protocol_profile import ProtocolProfile
from harness.model.walks import EVENTS, WalkOffer, path_of

WHOLE, CUT = "walks", "cut"
"""Folders below the run's, for the results of walks as they are drawn, and of those that are cut."""
NUMBER = re.compile("[0-9]+")
MOST_CUT = 6
"""Kinds of difference of which a walk is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWalks:
    """What the first target was asked.

    :param profile: By which it was compared. :param offer: By which messages were composed.
    :param rounds: How many. :param differing: Walks that were not as the model says there, by number.
    :param missed: Walks that were not walked to their ends, by the reason.
    """

    profile: ProtocolProfile
    offer: WalkOffer
    rounds: int
    differing: frozenset[int] = frozenset()
    missed: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutWalks:
    """What the second target was asked. :param found: Walks that differ there, cut, the shortest first."""

    found: Sequence[FoundWalk]
    missed: Mapping[str, int]


def ask_first(options: ExploreOptions, seconds: float) -> AskedWalks:
    """Its cells, then rounds of walks for so long; at least one.

    :raises UserError: When the target cannot be had, or is lost on the way.
    """
    with open_exploration(options) as exploration:
        explore_cells(exploration)
        asked = AskedWalks(profile=exploration.profile(), offer=WalkOffer.of(exploration.offer.apis), rounds=0)
        ends = time.monotonic() + seconds
        with _walking(exploration, asked, WHOLE) as search:
            found = _ask_rounds(search, takewhile(lambda number: not number or time.monotonic() < ends, count()))
        differing = frozenset(one.cell for one in found)
        return replace(asked, rounds=search.rounds, differing=differing, missed=search.missed)


def ask_second(options: ExploreOptions, asked: AskedWalks) -> CutWalks:
    """The same, and what differs there alone cut; :raises UserError: likewise."""
    with open_exploration(options) as exploration:
        explore_cells(exploration)
        with _walking(exploration, asked, WHOLE) as search:
            results = _ask_rounds(search, range(asked.rounds))
        drawn = [walk for number in range(asked.rounds) for walk in walks_of_comparison(options, number)]
        chosen = one_of_each_kind([(drawn[one.cell - 1], one) for one in results if one.cell not in asked.differing])
        with _walking(exploration, asked, CUT) as cutting:
            found = each_once((cutting.cut(*each) for each in chosen), asked)
            _require(cutting)
            _ask_cut(cutting, found)
        return CutWalks(found=found, missed=search.missed)


def ask_first_again(options: ExploreOptions, asked: AskedWalks, found: Sequence[FoundWalk]) -> None:
    """What the second was found to differ in; :raises UserError: likewise."""
    with open_exploration(options) as exploration, _walking(exploration, asked, CUT) as search:
        _ask_cut(search, found)


@contextmanager
def _walking(exploration: Exploration, asked: AskedWalks, below: str) -> Iterator[WalkSearch]:
    """In a run folder of its own, below the one of the cells."""
    described = {**exploration.options.described(), "walking": True, "profile": asdict(asked.profile)}
    folder = RunFolder.create(exploration.folder.path / below, described)
    walking = replace(exploration, folder=folder)
    search = WalkSearch(exploration=walking, profile=asked.profile, offer=asked.offer)
    try:
        yield search
    finally:
        folder.add_to_run({"walks": search.asked, "rounds": search.rounds})
        folder.seal()


def walks_of_comparison(options: ExploreOptions, number: int) -> Sequence[Walk]:
    """Those of a round, every second one in the old protocol alone."""
    drawn = walks_of_round(options.run.seed.value, number)
    return [_in_old_protocol(walk) if index % 2 else walk for index, walk in enumerate(drawn)]


def one_of_each_kind(differing: Iterable[tuple[Walk, CellResult]]) -> Sequence[tuple[Walk, CellResult]]:
    """The shortest that differs in each way; a walk in which something happens would be cut for minutes."""
    requests = [(walk, one) for walk, one in differing if not any(step.action in EVENTS for step in walk)]
    shown = [each for each in requests if each[1].outcome is CellOutcome.DIFFERS]
    kinds: dict[tuple[str, ...], tuple[Walk, CellResult]] = {}
    for walk, one in sorted(shown, key=lambda each: (len(each[1].exchanges), len(each[0]))):
        kinds.setdefault(_kind(one), (walk, one))
    return list(kinds.values())[:MOST_CUT]


def each_once(cut: Iterable[FoundWalk], asked: AskedWalks) -> Sequence[FoundWalk]:
    """The shortest first; walks that differ in several ways may come to the same requests when they are cut."""
    by_path = {path_of(each.steps, asked.profile, asked.offer): each for each in cut}
    return sorted(by_path.values(), key=lambda each: len(each.steps))


def _kind(result: CellResult) -> tuple[str, ...]:
    """Equal for differences of one cause, most likely: what was asked last and how it differs, without numbers."""
    last = result.exchanges[-1] if result.exchanges else None
    asked = "" if last is None else f"{last.asked.partition('(')[0]} v{last.version}"
    texts = {f"{each.part}: {each.expected}, {each.seen}" for each in result.differences}
    return (asked, *sorted({NUMBER.sub("", text) for text in texts}))


def _in_old_protocol(walk: Walk) -> Walk:
    return tuple(replace(step, new_protocol=False) for step in walk)


def _ask_rounds(search: WalkSearch, rounds: Iterable[int]) -> Sequence[CellResult]:
    """What differs in each round."""
    found: list[CellResult] = []
    for number in rounds:
        found += search.ask(walks_of_comparison(search.exploration.options, number)).differing
        _require(search)
        search.rounds += 1
    return found


def _ask_cut(search: WalkSearch, found: Sequence[FoundWalk]) -> None:
    """Numbered alike on both targets."""
    search.asked = 0
    search.ask([each.steps for each in found])
    _require(search)


def _require(search: WalkSearch) -> None:
    if search.why_lost is not None:
        search.exploration.lost(search.asked, search.why_lost)
