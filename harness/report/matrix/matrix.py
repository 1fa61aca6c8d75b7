"""Several runs beside each other: for each requirement its verdict on each, and what differs from its neighbour."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.verdict import Verdict
from harness.report.contract.results import RequirementResult, counts, join
from harness.report.shared.run_metadata import RunMetadata
from harness.report.shared.status_marks import StatusMark, StatusTally, mark, tallies
from harness.report.shared.words import NOT_JUDGED, label


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A run folder that was read: what was judged, and how.

    :param link: Where its page is, relative to the matrix or absolute; "" where there is none.
    """

    about: RunMetadata
    verdicts: Sequence[Verdict]
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixColumn:
    """One run; ``name`` is its target's, without what all targets begin with."""

    name: str
    link: str
    started: str
    tallies: tuple[StatusTally, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """One requirement on one run.

    :param words: The verdict with what was found broken: ``violated: hanging-write``.
    :param why: Why it is known to fail, or why it was not judged to its end.
    :param changed: Whether the neighbour on the left has another status, or other anomalies.
    """

    mark: StatusMark
    words: str
    why: str = ""
    changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    row: RequirementRow
    cells: tuple[MatrixCell, ...]

    @property
    def differs(self) -> bool:
        """Whether some run differs from its neighbour."""
        return any(cell.changed for cell in self.cells)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange:
    """A requirement whose verdict differs between two neighbours."""

    row: RequirementRow
    before: MatrixCell
    after: MatrixCell


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """From one run to the next."""

    before: str
    after: str
    changes: tuple[VerdictChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The whole page; ``groups`` are rows by KIP and group."""

    columns: tuple[MatrixColumn, ...]
    groups: tuple[tuple[str, tuple[MatrixRow, ...]], ...]
    steps: tuple[Transition, ...] = field(default_factory=tuple)

    @property
    def rows(self) -> Iterator[MatrixRow]:
        for _, rows in self.groups:
            yield from rows


def matrix(rows: Sequence[RequirementRow], runs: Sequence[JudgedRun]) -> Matrix:
    """The runs in the given order; rows that no run has judged are left out."""
    judged = [join(rows, run.verdicts, run.about.profile) for run in runs]
    by_id = [{result.row.id: result for result in results} for results in judged]
    shown = [row for row in _every_row(judged) if any(_was_judged(results, row.id) for results in by_id)]
    lines = [MatrixRow(row=row, cells=_cells(row.id, by_id)) for row in shown]
    columns = tuple(_column(run, results) for run, results in zip(runs, judged, strict=True))
    groups = groupby(lines, key=lambda line: f"{line.row.kip} {line.row.group}")
    return Matrix(
        columns=columns,
        groups=tuple((name, tuple(some)) for name, some in groups),
        steps=tuple(_steps(columns, lines)),
    )


def _every_row(judged: Sequence[Sequence[RequirementResult]]) -> list[RequirementRow]:
    """Also those that only an older run knows."""
    found = {result.row.id: result.row for results in judged for result in results}
    return [found[id_] for id_ in sorted(found)]


def _was_judged(results: Mapping[str, RequirementResult], id_: str) -> bool:
    return id_ in results and results[id_].verdict is not None


def _cells(id_: str, by_id: Sequence[Mapping[str, RequirementResult]]) -> tuple[MatrixCell, ...]:
    cells = [_cell(results.get(id_)) for results in by_id]
    changed = [False, *(_differ(left, right) for left, right in pairwise(cells))]
    return tuple(replace(cell, changed=new) for cell, new in zip(cells, changed, strict=True))


def _cell(result: RequirementResult | None) -> MatrixCell:
    if result is None or result.verdict is None:
        return MatrixCell(mark=mark(NOT_JUDGED), words=label(NOT_JUDGED).lower())
    verdict = result.verdict
    return MatrixCell(
        mark=mark(result.status),
        words=result.words,
        why=verdict.known_failure or verdict.reason or "",
    )


def _differ(left: MatrixCell, right: MatrixCell) -> bool:
    return left.words != right.words


def _column(run: JudgedRun, results: Sequence[RequirementResult]) -> MatrixColumn:
    name = run.about.client or run.about.target.removeprefix("kafka:") or run.about.name
    found = counts([result for result in results if result.verdict])
    return MatrixColumn(name=name, link=run.link, started=run.about.started, tallies=tallies(found, digits=1))


def _steps(columns: Sequence[MatrixColumn], lines: Sequence[MatrixRow]) -> Iterator[Transition]:
    for number, (before, after) in enumerate(pairwise(columns)):
        changes = [
            VerdictChange(row=line.row, before=line.cells[number], after=line.cells[number + 1])
            for line in lines
            if line.cells[number + 1].changed
        ]
        yield Transition(before=before.name, after=after.name, changes=tuple(changes))
