"""What an exploration has compared, as a table: states of a transactional id by kinds of request.

Made of the lines of ``cells.jsonl`` alone, so that a page can be made again of any folder.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from harness.explore.cell_results import CellOutcome
from harness.explore.findings import CELLS

CellLine: TypeAlias = Mapping[str, Any]
"""A line of ``cells.jsonl``: ``cell``, ``state``, ``request``, ``outcome``, ``steps``, ``why``, ``differences``, …"""
AGREES, DIFFERS, NOT_REACHED = (each.value for each in CellOutcome)
EXPLAINED = "explained"


@dataclass(frozen=True, slots=True)
class CoverageCell:
    """Requests of one kind in one state. :param counts: By outcome; an explained difference is one of its own."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def worst(self) -> str:
        """What the table shows: a difference before a cell that was not reached, before agreement."""
        ranked = (DIFFERS, NOT_REACHED, EXPLAINED, AGREES)
        return next((outcome for outcome in ranked if self.counts.get(outcome)), "not asked")

    @property
    def words(self) -> str:
        """For a reader's pointer."""
        return ", ".join(f"{number} {outcome}" for outcome, number in sorted(self.counts.items())) or "not asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    """A state, by the kinds of request in the table's order. :param steps: Requests that lead there."""

    state: str
    steps: int
    cells: tuple[CoverageCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The whole page.

    :param kinds: API and version of each column. :param told: Cells that differ, or were not reached first.
    """

    kinds: tuple[str, ...]
    rows: tuple[CoverageRow, ...]
    counts: Counter[str]
    told: Sequence[CellLine] = field(default_factory=tuple)


def cell_lines(folder: Path) -> Iterator[CellLine]:
    """Of an exploration's folder; :raises FileNotFoundError: when it is none."""
    with (folder / CELLS).open(encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def coverage(lines: Iterable[CellLine]) -> Coverage:
    """Rows in the order of their shortest paths, columns by API and version."""
    every = list(lines)
    by_place: dict[tuple[str, str], Counter[str]] = {}
    for line in every:
        by_place.setdefault((line["state"], kind_of(line)), Counter())[outcome_of(line)] += 1
    kinds = tuple(sorted({kind for _, kind in by_place}, key=_api_and_version))
    steps: dict[str, int] = {}
    for line in every:
        steps[line["state"]] = min(line["steps"], steps.get(line["state"], line["steps"]))
    rows = tuple(_row(state, steps[state], kinds, by_place) for state in sorted(steps, key=lambda s: (steps[s], s)))
    differing = sorted((line for line in every if line["differences"]), key=lambda line: (line["steps"], line["cell"]))
    return Coverage(kinds=kinds, rows=rows, counts=Counter(map(outcome_of, every)), told=differing)


def _row(
    state: str, steps: int, kinds: Sequence[str], by_place: Mapping[tuple[str, str], Mapping[str, int]]
) -> CoverageRow:
    cells = tuple(CoverageCell(by_place.get((state, kind), {})) for kind in kinds)
    return CoverageRow(state=state, steps=steps, cells=cells)


def kind_of(line: CellLine) -> str:
    """API and version: what stands before the first comma of the request's name."""
    return str(line["request"]).partition(",")[0]


def _api_and_version(kind: str) -> tuple[str, int, str]:
    """``Produce v9`` before ``Produce v10``."""
    api, _, version = kind.rpartition(" v")
    return api, int(version) if version.isdecimal() else 0, kind


def outcome_of(line: CellLine) -> str:
    """Of the cell; a difference that is known and explained is told apart."""
    return EXPLAINED if line["outcome"] == DIFFERS and line["explained"] else str(line["outcome"])
