"""``fencepost explore --walks``: walks asked of a running cluster, and what differs cut to the shortest that shows it.

Some hundred walks are asked side by side, as cells with long paths: every answer on the way is compared, and what
brokers keep and show at the end. Hypothesis draws them. What differs is cut by us: all walks that are one step shorter
are asked at once, where Hypothesis's own shrinking asks one after the other.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from harness.base.json_value import Json
from harness.base.user_error import ExitCode
from harness.evidence.run_folder import RunFolder
from harness.explore.cell_exploration import Exploration, open_exploration
from harness.explore.cell_results import CellOutcome, CellResult
from harness.explore.explore_options import ExploreOptions
from harness.explore.explored_cells import how_to_resume
from harness.explore.findings import Findings, told_again
from harness.explore.walks.drawn_walks import walks_of_round
from harness.model.grid import GridCell
from harness.model.protocol_profile import ProtocolProfile
from harness.model.sketch import sketch
from harness.model.walks import WalkAction, WalkOffer, WalkStep, cell_of, path_of

Walk: TypeAlias = tuple[WalkStep, ...]
AGAIN = 3
"""How often a walk that differed is asked again, to see whether it always does."""
KEPT = "walks.jsonl"
NOT_OFFERED = "the target does not offer a message of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundWalk:
    """A walk that differs, as short as it could be cut; a line of ``walks.jsonl``.

    :param share: In how many of :data:`AGAIN` tries it differed again.
    """

    steps: Walk
    share: str
    result: CellResult


@dataclass(slots=True, kw_only=True)
class WalkSearch:
    """On one cluster.

    :param offer: By which messages are composed. :param asked: Walks so far. :param rounds: Whole ones so far.
    :param missed: Walks that were not walked to their ends, by the reason.
    """

    exploration: Exploration
    profile: ProtocolProfile
    offer: WalkOffer
    asked: int = 0
    rounds: int = 0
    missed: Counter[str] = field(default_factory=Counter)
    found: list[FoundWalk] = field(default_factory=list)
    why_lost: str | None = None

    def search(self, seconds: float, first: Sequence[Walk]) -> None:
        """Known walks first, then drawn ones, until the time is over or something is found."""
        ends = time.monotonic() + seconds
        self._look_at(first)
        while not self.found and self.why_lost is None and time.monotonic() < ends:
            self._look_at(walks_of_round(self.exploration.options.run.seed.value, self.rounds))
            self.rounds += self.why_lost is None

    def _look_at(self, walks: Sequence[Walk]) -> None:
        differing = self.differing(walks, "")
        if differing and self.why_lost is None:
            self.found.append(self.cut(*min(differing, key=lambda each: len(each[0]))))

    def differing(self, walks: Sequence[Walk], folder: str) -> list[tuple[Walk, CellResult]]:
        """Those that differ. :param folder: Below the run's, for the results."""
        by_number = dict(enumerate(walks, start=self.asked + 1))
        results = self.ask(walks, folder)
        return [(by_number[one.cell], one) for one in results.differing if one.outcome is CellOutcome.DIFFERS]

    def ask(self, walks: Sequence[Walk], folder: str = "") -> Findings:
        """All that the target offers; what is not sent at all is not counted among the results."""
        cells = [(number, self._cell(walk)) for number, walk in enumerate(walks, start=self.asked + 1)]
        numbered = [(number, cell) for number, cell in cells if cell is not None]
        self.asked += len(walks)
        results = Findings(folder=self.exploration.folder.path / folder)
        results.folder.mkdir(exist_ok=True)
        self.why_lost = self.exploration.explore(numbered, self.profile, results) if numbered else None
        self.missed += results.missed
        return results

    def _cell(self, walk: Walk) -> GridCell | None:
        """None where nothing is sent, or something that the target does not offer."""
        common = self.offer.also_of(WalkOffer.of(self.exploration.offer.apis))
        if self.offer == common or path_of(walk, self.profile, self.offer) == path_of(walk, self.profile, common):
            return cell_of(walk, self.profile, self.offer)
        self.missed[NOT_OFFERED] += 1
        return None

    def cut(self, walk: Walk, result: CellResult) -> FoundWalk:
        """One step after the other is left out, as long as what is left differs.

        :param result: How the walk differed at first; told of one that never differs again.
        """
        again = self.differing([walk] * AGAIN, "tries")
        shortest, last = walk, again
        while shorter := self.differing([*_without_one(shortest)], "tries") if last else []:
            shortest, last = shorter[0][0], shorter
        seen = next((each for _, each in last), result)
        return FoundWalk(steps=shortest, share=f"{len(again)} of {AGAIN}", result=seen)

    def told(self) -> Iterator[str]:
        """What came of it, with the sketch of each walk that differs."""
        yield f"{self.asked} walks asked in {self.rounds} rounds, {len(self.found)} found that differ"
        yield from told_again(self.exploration.asked_again)
        for reason, walks in sorted(self.missed.items()):
            yield f"not walked to their ends, {walks} walks: {reason}"
        for each in self.found:
            yield f"a walk of {len(each.steps)} steps differs ({each.share} times again):"
            yield sketch(path_of(each.steps, self.profile, self.offer))
            yield from (
                f"  {one.part}: the model says {one.expected}; seen is {one.seen}" for one in each.result.differences
            )


def _without_one(walk: Walk) -> Iterator[Walk]:
    for index in reversed(range(len(walk))):
        yield (*walk[:index], *walk[index + 1 :])


def explore_walks(options: ExploreOptions, known: Path) -> ExitCode:
    """Open the target, ask walks, tell and keep what differs, also of what was asked before an interrupt.

    :param known: A file of walks that differed before, on whatever target: they are asked first.
    :raises UserError: When the target cannot be had, or is lost on the way.
    """
    with open_exploration(options.continued()) as exploration:
        offer = WalkOffer.of(exploration.offer.apis)
        search = WalkSearch(exploration=exploration, profile=exploration.profile(), offer=offer)
        before = _walked_before(options)
        search.asked, search.rounds = before["walks"], before["rounds"]
        try:
            search.search(options.walk_seconds or 0.0, () if options.resume else read_walks(known))
        except BaseException:
            search.why_lost = "interrupted"
            raise
        finally:
            _tell(search)
        if search.why_lost is not None:
            exploration.lost(search.asked, search.why_lost)
    return ExitCode.BROKEN if search.found else ExitCode.KEPT if search.asked else ExitCode.BROKEN


def _tell(search: WalkSearch) -> None:
    exploration = search.exploration
    walked: dict[str, Json] = {"walks": search.asked, "rounds": search.rounds}
    exploration.folder.add_to_run({"profile": asdict(search.profile), **walked})
    keep_walks(exploration.folder.path / KEPT, search.found)
    exploration.folder.seal()
    told = [*search.told(), *([how_to_resume(exploration.options)] if search.why_lost else [])]
    sys.stdout.write("\n".join([*told, f"all of it: {exploration.folder.path}"]) + "\n")


def _walked_before(options: ExploreOptions) -> Mapping[str, int]:
    """By the exploration that is resumed: walks and whole rounds."""
    if options.resume is None:
        return {"walks": 0, "rounds": 0}
    run = RunFolder.open(options.resume, kind="explore").run()
    counted = {name: run.get(name) for name in ("walks", "rounds")}
    return {name: number if isinstance(number, int) else 0 for name, number in counted.items()}


def read_walks(path: Path) -> list[Walk]:
    """Those of a file that a search has written; none where there is no file."""
    if not path.exists():
        return []
    return [
        tuple(_step(step) for step in line["steps"]) for line in map(json.loads, path.read_text("utf-8").splitlines())
    ]


def _step(given: dict[str, object]) -> WalkStep:
    return replace(WalkStep(**given), action=WalkAction(given["action"]))  # type: ignore[arg-type]


def keep_walks(path: Path, found: Iterable[FoundWalk]) -> None:
    """As :func:`read_walks` reads them."""
    lines = [json.dumps({"steps": [_as_json(step) for step in each.steps], "share": each.share}) for each in found]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _as_json(step: WalkStep) -> dict[str, object]:
    return {**asdict(step), "action": step.action.value}
