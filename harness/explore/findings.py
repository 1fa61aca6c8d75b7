"""The results of all cells as they come: on disk, counted, each difference told once; and what is told at the end."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from harness.evidence.json_codec import to_json_lines
from harness.explore.cell_results import CellOutcome, CellResult, CellSeen, KeptSeen
from harness.explore.explained import ExplainedDifference, explanation_of
from harness.model.events.model_event import ModelStep

SHOWN = 12
"""Differences that are told whole."""
TOLD_SECONDS = 15.0
"""Between two lines that tell how far an exploration is."""
CELLS, SEEN = "cells.jsonl", "seen.jsonl"
Beginning: TypeAlias = tuple[ModelStep, ...]
"""Of a path, up to the step that was answered otherwise than the model says."""


@dataclass(frozen=True, slots=True)
class FreshResult:
    """A cell's result. :param strayed: None where what is asked was reached."""

    result: CellResult
    seen: CellSeen | None = None
    strayed: Beginning | None = None


@dataclass(slots=True, kw_only=True)
class CellProgress:
    """Of ``total`` cells. :param already: Compared before it began. :param tell: Takes a line."""

    total: int
    already: int = 0
    tell: Callable[[str], None]
    started: float = field(default_factory=time.monotonic)
    _told: float = field(default_factory=time.monotonic)

    def compared(self, cells: int, unexplained: int) -> None:
        """``12345 of 76972 cells, 0 differ without an explanation, 180 a second``."""
        now = time.monotonic()
        if now - self._told < TOLD_SECONDS:
            return
        self._told, rate = now, (cells - self.already) / (now - self.started)
        self.tell(f"{cells} of {self.total} cells, {unexplained} differ without an explanation, {rate:.0f} a second")


@dataclass(slots=True, kw_only=True)
class Findings:
    """Used by several threads.

    :param folder: Where the results go, a line each, and what was seen.
    :param missed: Cells that were not reached although every answer on the way was as the model says, by the reason.
    :param progress: Told after each batch; None: nobody is.
    :param lost: Whether the cluster does not answer any more.
    """

    folder: Path
    explanations: Sequence[ExplainedDifference] = ()
    progress: CellProgress | None = None
    counts: Counter[CellOutcome] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    differing: list[CellResult] = field(default_factory=list)
    missed: Counter[str] = field(default_factory=Counter)
    lost: bool = False
    _first_strayed: dict[Beginning, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, fresh: Iterable[FreshResult]) -> None:
        """Keep the results of a batch."""
        with self._lock:
            given = list(fresh)
            self._append(CELLS, [self._counted(each) for each in given])
            self._append(SEEN, [_kept(each.result.cell, each.seen) for each in given if each.seen])
            if self.progress is not None:
                self.progress.compared(self.compared, len(self.unexplained()))

    def _append(self, name: str, lines: Sequence[object]) -> None:
        with (self.folder / name).open("ab") as stream:
            stream.write(to_json_lines(lines))

    def keep_earlier(self, results: Iterable[CellResult], seen: Sequence[str]) -> None:
        """What an exploration that is resumed had compared."""
        with self._lock:
            known = list(results)
            self._append(CELLS, known)
            (self.folder / SEEN).write_text("".join(seen), encoding="utf-8")
            self.counts.update(each.outcome for each in known)
            self.differing += [each for each in known if each.outcome is CellOutcome.DIFFERS]
            self.explained.update(reason for each in known for reason in (each.explained or "").split("; ") if reason)

    @property
    def compared(self) -> int:
        return sum(self.counts.values())

    @property
    def reached(self) -> int:
        """Cells in which something was compared."""
        return self.compared - self.counts[CellOutcome.NOT_REACHED]

    def unexplained(self) -> Sequence[CellResult]:
        """Shortest first."""
        return sorted(
            (each for each in self.differing if each.explained is None), key=lambda each: (each.steps, each.cell)
        )

    def stale(self) -> Sequence[ExplainedDifference]:
        """Explanations of what was not seen."""
        return [each for each in self.explanations if not self.explained[each.reason]]

    def _counted(self, fresh: FreshResult) -> CellResult:
        result = self._not_reached(fresh) or self._explained(fresh.result)
        self.counts[result.outcome] += 1
        if result.outcome is CellOutcome.NOT_REACHED and fresh.strayed is None:
            self.missed[result.why] += 1
        if result.outcome is CellOutcome.DIFFERS:
            self.differing.append(result)
        return result

    def _not_reached(self, fresh: FreshResult) -> CellResult | None:
        """None for the first cell whose path strayed so, which is where it is told."""
        if fresh.strayed is None:
            return None
        first = self._first_strayed.setdefault(fresh.strayed, fresh.result.cell)
        if first == fresh.result.cell:
            return None
        step = len(fresh.strayed)
        why = f"step {step} of its path was answered otherwise than the model says, as in cell {first}"
        return replace(fresh.result, outcome=CellOutcome.NOT_REACHED, why=why, differences=(), exchanges=())

    def _explained(self, result: CellResult) -> CellResult:
        found = explanation_of(result, self.explanations)
        if not found:
            return result
        reasons = sorted({each.reason for each in found})
        self.explained.update(reasons)
        return replace(result, explained="; ".join(reasons))


def summary(found: Findings, total: int, seconds: float, asked_again: Mapping[str, int], late: int) -> Iterator[str]:
    """Counts first, then the differences, those after the shortest paths first."""
    counts = found.counts
    yield (
        f"{found.compared} of {total} cells in {seconds:.0f} s ({found.compared / max(seconds, 0.001):.0f} a second):"
        f" {counts[CellOutcome.AGREES]} agree, {counts[CellOutcome.DIFFERS]} differ, of which"
        f" {counts[CellOutcome.DIFFERS] - len(found.unexplained())} are explained,"
        f" {counts[CellOutcome.NOT_REACHED]} not reached"
    )
    yield from told_again(asked_again)
    if late:
        yield f"{late} transactions had not ended when they were looked at"
    for reason, cells in sorted(found.missed.items()):
        yield f"not reached, {cells} cells: {reason}"
    for reason, cells in sorted(found.explained.items()):
        yield f"explained, {cells} cells: {reason}"
    yield from _differences(found.unexplained())


def told_again(asked_again: Mapping[str, int]) -> Iterator[str]:
    """How often something was sent again, by the answer before."""
    for error, times in sorted(asked_again.items()):
        yield f"asked again {times} times after {error}"


def _differences(differing: Sequence[CellResult]) -> Iterator[str]:
    """One of each kind, with how many are alike."""
    kinds = Counter(map(_kind, differing))
    told: set[tuple[str, ...]] = set()
    firsts = (each for each in differing if _kind(each) not in told and not told.add(_kind(each)))  # type: ignore[func-returns-value]
    for each in islice(firsts, SHOWN):
        yield from _told(each, kinds[_kind(each)])
    if len(kinds) > SHOWN:
        yield f"… and {len(kinds) - SHOWN} more kinds of difference"


def _told(result: CellResult, alike: int) -> Iterator[str]:
    others = f" ({alike} cells alike)" if alike > 1 else ""
    yield f"cell {result.cell}: {result.request}, in «{result.state}»{others}"
    for number, each in enumerate(result.exchanges, start=1):
        tries = f", at try {each.tries}" if each.tries > 1 else ""
        yield f"  {number}. {each.asked} → {each.answered}{tries}"
    for difference in result.differences:
        yield f"  {difference.part}: the model says {difference.expected}; seen is {difference.seen}"


def _kind(result: CellResult) -> tuple[str, ...]:
    """Equal for differences that most likely have one cause: API, version, and what differs how."""
    api = " ".join(result.request.split(",")[0].split(" ")[:2])
    answers = [f"{each.part} {each.expected} {each.seen}" for each in result.differences if each.part == "answer"]
    return (api, *(answers or sorted({each.part for each in result.differences})))


def _kept(cell: int, seen: CellSeen) -> KeptSeen:
    return KeptSeen(cell=cell, seen=replace(seen, records=None))
