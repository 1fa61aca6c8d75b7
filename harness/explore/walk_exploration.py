"""``fencepost explore --walks``: walks asked of a running cluster, and what differs cut to the shortest that shows it.

Some hundred walks are asked side by side, as cells with long paths: every answer on the way is compared, and what
brokers keep and show at the end. Hypothesis draws them. What differs is cut by us: all walks that are one step shorter
are asked at once, where Hypothesis's own shrinking asks one after the other.
"""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from harness.base.user_error import ExitCode
from harness.explore.cell_exploration import Exploration, ExploreOptions, open_exploration
from harness.explore.cell_results import CellOutcome, CellResult
from harness.explore.drawn_walks import drawn_walks
from harness.explore.findings import Findings
from harness.model.protocol_profile import NEW_PROTOCOL_PRODUCE, ProtocolProfile
from harness.model.sketch import sketch
from harness.model.walks import WalkAction, WalkStep, cell_of, requests_of

Walk: TypeAlias = tuple[WalkStep, ...]
ROUND = 400
"""Walks that are asked before the clock is looked at."""
AGAIN = 3
"""How often a walk that differed is asked again, to see whether it always does."""
KEPT = "walks.jsonl"


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
    """On one cluster. :param asked: Walks so far."""

    exploration: Exploration
    profile: ProtocolProfile
    asked: int = 0
    found: list[FoundWalk] = field(default_factory=list)
    why_lost: str | None = None

    def search(self, seconds: float, first: Sequence[Walk]) -> None:
        """Known walks first, then drawn ones, until the time is over or something is found."""
        ends, round_ = time.monotonic() + seconds, 0
        self._look_at(first)
        while not self.found and self.why_lost is None and time.monotonic() < ends:
            self._look_at(drawn_walks(self.exploration.options.run.seed.value + round_, ROUND))
            round_ += 1

    def _look_at(self, walks: Sequence[Walk]) -> None:
        differing = self.differing(walks, "")
        if differing and self.why_lost is None:
            walk, _ = min(differing, key=lambda each: len(each[0]))
            self.found.append(self._cut(walk))

    def differing(self, walks: Sequence[Walk], folder: str) -> list[tuple[Walk, CellResult]]:
        """Those that differ. :param folder: Below the run's, for the results."""
        cells = [cell_of(walk, self.profile, new_protocol=self._new) for walk in walks]
        numbered = [(number, cell) for number, cell in enumerate(cells, start=self.asked + 1) if cell is not None]
        by_number = dict(enumerate(walks, start=self.asked + 1))
        self.asked += len(walks)
        results = Findings(folder=self.exploration.folder.path / folder)
        results.folder.mkdir(exist_ok=True)
        self.why_lost = self.exploration.explore(numbered, self.profile, results) if numbered else None
        return [(by_number[one.cell], one) for one in results.differing if one.outcome is CellOutcome.DIFFERS]

    def _cut(self, walk: Walk) -> FoundWalk:
        """One step after the other is left out, as long as what is left differs."""
        again = self.differing([walk] * AGAIN, "tries")
        shortest, last = walk, again
        while shorter := self.differing([*_without_one(shortest)], "tries") if last else []:
            shortest, last = shorter[0][0], shorter
        result = next((each for _, each in last), None) or self._unseen(shortest)
        return FoundWalk(steps=shortest, share=f"{len(again)} of {AGAIN}", result=result)

    def _unseen(self, walk: Walk) -> CellResult:
        why = "it differed once, and not again"
        return CellResult(
            cell=0, state="", request=f"a walk of {len(walk)}", outcome=CellOutcome.DIFFERS, steps=0, why=why
        )

    @property
    def _new(self) -> bool:
        return self.exploration.offer.apis.get("Produce", (0, 0))[1] >= NEW_PROTOCOL_PRODUCE

    def told(self) -> Iterator[str]:
        """What came of it, with the sketch of each walk that differs."""
        yield f"{self.asked} walks asked, {len(self.found)} found that differ"
        for each in self.found:
            yield f"a walk of {len(each.steps)} steps differs ({each.share} times again):"
            yield sketch(requests_of(each.steps, self.profile, new_protocol=self._new))
            yield from (
                f"  {one.part}: the model says {one.expected}; seen is {one.seen}" for one in each.result.differences
            )


def _without_one(walk: Walk) -> Iterator[Walk]:
    for index in reversed(range(len(walk))):
        yield (*walk[:index], *walk[index + 1 :])


def explore_walks(options: ExploreOptions, known: Path) -> ExitCode:
    """Open the target, ask walks, tell and keep what differs.

    :param known: A file of walks that differed before, on whatever target: they are asked first.
    :raises UserError: When the target cannot be had, or is lost on the way.
    """
    with open_exploration(options) as exploration:
        search = WalkSearch(exploration=exploration, profile=exploration.profile())
        search.search(options.walk_seconds or 0.0, read_walks(known))
        exploration.folder.add_to_run({"profile": asdict(search.profile), "walks": search.asked})
        _keep(exploration.folder.path / KEPT, search.found)
        exploration.folder.seal()
        sys.stdout.write("\n".join([*search.told(), f"all of it: {exploration.folder.path}"]) + "\n")
        if search.why_lost is not None:
            exploration.lost(search.asked, search.why_lost)
    return ExitCode.BROKEN if search.found else ExitCode.KEPT if search.asked else ExitCode.BROKEN


def read_walks(path: Path) -> list[Walk]:
    """Those of a file that a search has written; none where there is no file."""
    if not path.exists():
        return []
    return [
        tuple(_step(step) for step in line["steps"]) for line in map(json.loads, path.read_text("utf-8").splitlines())
    ]


def _step(given: dict[str, object]) -> WalkStep:
    return replace(WalkStep(**given), action=WalkAction(given["action"]))  # type: ignore[arg-type]


def _keep(path: Path, found: Sequence[FoundWalk]) -> None:
    lines = [json.dumps({"steps": [_as_json(step) for step in each.steps], "share": each.share}) for each in found]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _as_json(step: WalkStep) -> dict[str, object]:
    return {**asdict(step), "action": step.action.value}
