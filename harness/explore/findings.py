"""The results of all cells as they come: on disk, counted, and each difference told once."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from harness.evidence.json_codec import to_json_lines
from harness.explore.cell_results import CellOutcome, CellResult, CellSeen, KeptSeen
from harness.explore.explained import ExplainedDifference, explanation_of
from harness.model.model_requests import ModelRequest

CELLS, SEEN = "cells.jsonl", "seen.jsonl"
Beginning: TypeAlias = tuple[ModelRequest, ...]
"""Of a path, up to the step that was answered otherwise than the model says."""


@dataclass(frozen=True, slots=True)
class FreshResult:
    """A cell's result. :param strayed: None where what is asked was reached."""

    result: CellResult
    seen: CellSeen | None = None
    strayed: Beginning | None = None


@dataclass(slots=True, kw_only=True)
class Findings:
    """Used by several threads.

    :param folder: Where the results go, a line each, and what was seen.
    :param lost: Whether the cluster does not answer any more.
    """

    folder: Path
    explanations: Sequence[ExplainedDifference] = ()
    counts: Counter[CellOutcome] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    differing: list[CellResult] = field(default_factory=list)
    lost: bool = False
    _first_strayed: dict[Beginning, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, fresh: Iterable[FreshResult]) -> None:
        """Keep the results of a batch."""
        with self._lock:
            given = list(fresh)
            self._append(CELLS, [self._counted(each) for each in given])
            self._append(SEEN, [KeptSeen(cell=each.result.cell, seen=each.seen) for each in given if each.seen])

    def _append(self, name: str, lines: Sequence[object]) -> None:
        with (self.folder / name).open("ab") as stream:
            stream.write(to_json_lines(lines))

    @property
    def compared(self) -> int:
        return sum(self.counts.values())

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
