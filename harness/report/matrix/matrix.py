"""Several runs beside each other: for each requirement its verdict on each, and what differs from its neighbour."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.verdict import Status, Verdict
from harness.report.clients.spoken_versions import Speaks
from harness.report.contract.results import RequirementResult, counts, join
from harness.report.shared.run_metadata import RunMetadata, span
from harness.report.shared.status_marks import StatusMark, StatusTally, mark, tallies
from harness.report.shared.words import NOT_JUDGED, label, short


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A run folder that was read: what was judged, and how.

    :param link: Where its page is, relative to the matrix or absolute; "" where there is none.
    :param speaks: Of a client: the versions that it was seen to use.
    """

    about: RunMetadata
    verdicts: Sequence[Verdict]
    link: str = ""
    speaks: Speaks = field(default_factory=Speaks)

    @property
    def kind(self) -> str:
        """Runs of one kind are compared with their neighbours: releases, or versions of one client library."""
        return self.about.client.partition(":")[0]


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
    :param link: Where the run's page tells more of it; "" where there is none.
    """

    mark: StatusMark
    words: str
    why: str = ""
    changed: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A requirement on every run.

    :param differs: Whether some run differs from its neighbour; of clients, whether any two differ.
    """

    row: RequirementRow
    cells: tuple[MatrixCell, ...]
    differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenLine:
    """An API with the versions in which each client spoke it; empty where it was not seen to."""

    api: str
    cells: tuple[str, ...]


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
    """The whole page; ``groups`` are rows by KIP and group.

    :param spoken: Of clients: the versions that each speaks.
    """

    columns: tuple[MatrixColumn, ...]
    groups: tuple[tuple[str, tuple[MatrixRow, ...]], ...]
    steps: tuple[Transition, ...] = field(default_factory=tuple)
    of_clients: bool = False
    spoken: tuple[SpokenLine, ...] = ()

    @property
    def broken(self) -> Sequence[tuple[str, RequirementRow, MatrixCell]]:
        """Of clients: every violation, with the client's name, client by client."""
        cells = [
            (column.name, line.row, line.cells[place])
            for place, column in enumerate(self.columns)
            for line in self.rows
        ]
        return [each for each in cells if self.of_clients and each[2].mark.status == Status.VIOLATED]

    @property
    def rows(self) -> Iterator[MatrixRow]:
        for _, rows in self.groups:
            yield from rows


def matrix(rows: Sequence[RequirementRow], runs: Sequence[JudgedRun]) -> Matrix:
    """The runs in the given order; rows that no run has judged are left out.

    Releases are compared with their neighbours; clients only where neighbours are versions of one library.
    """
    judged = [join(rows, run.verdicts, run.about.profile, run.about.than) for run in runs]
    by_id = [{result.row.id: result for result in results} for results in judged]
    shown = [row for row in _every_row(judged) if any(_was_judged(results, row.id) for results in by_id)]
    lines = [_row(row, runs, by_id) for row in shown]
    columns = tuple(_column(run, results) for run, results in zip(runs, judged, strict=True))
    groups = groupby(lines, key=lambda line: f"{line.row.kip} {line.row.group}")
    return Matrix(
        columns=columns,
        groups=tuple((name, tuple(some)) for name, some in groups),
        steps=tuple(_steps(runs, columns, lines)),
        of_clients=any(run.about.client for run in runs),
        spoken=tuple(_spoken([run.speaks for run in runs])),
    )


def _every_row(judged: Sequence[Sequence[RequirementResult]]) -> list[RequirementRow]:
    """Also those that only an older run knows."""
    found = {result.row.id: result.row for results in judged for result in results}
    return [found[id_] for id_ in sorted(found)]


def _was_judged(results: Mapping[str, RequirementResult], id_: str) -> bool:
    return id_ in results and results[id_].verdict is not None


def _row(row: RequirementRow, runs: Sequence[JudgedRun], by_id: Sequence[Mapping[str, RequirementResult]]) -> MatrixRow:
    cells = [_cell(results.get(row.id)) for results in by_id]
    neighbours = zip(pairwise(runs), pairwise(cells), strict=True)
    of_clients = any(run.about.client for run in runs)
    changed = [False, *(before.kind == after.kind and _differ(*both) for (before, after), both in neighbours)]
    judged = {cell.words for cell in cells if cell.mark.status != NOT_JUDGED}
    links = (f"{run.link}#{row.id}" if run.link else "" for run in runs)
    told = zip(cells, changed, links, strict=True)
    return MatrixRow(
        row=row,
        cells=tuple(replace(cell, changed=new, link=link) for cell, new, link in told),
        differs=len(judged) > 1 if of_clients else any(changed),
    )


def _cell(result: RequirementResult | None) -> MatrixCell:
    if result is None or result.verdict is None:
        return MatrixCell(mark=mark(NOT_JUDGED), words=label(NOT_JUDGED).lower())
    verdict = result.verdict
    return MatrixCell(
        mark=mark(result.status),
        words=result.words,
        why=verdict.known_failure
        or verdict.reason
        or "; ".join(short(each.detail, 200) for each in verdict.findings[:1]),
    )


def _differ(left: MatrixCell, right: MatrixCell) -> bool:
    return left.words != right.words


def _column(run: JudgedRun, results: Sequence[RequirementResult]) -> MatrixColumn:
    name = run.about.client or run.about.target.removeprefix("kafka:") or run.about.name
    found = counts([result for result in results if result.verdict])
    return MatrixColumn(name=name, link=run.link, started=run.about.started, tallies=tallies(found, digits=1))


def _spoken(every: Sequence[Speaks]) -> Iterator[SpokenLine]:
    """The transaction protocol first, then each API that some client spoke."""
    if any(speaks.protocol for speaks in every):
        cells = (f"V{speaks.protocol}" if speaks.protocol else "" for speaks in every)
        yield SpokenLine(api="transaction protocol", cells=tuple(cells))
    for api in sorted({api for speaks in every for api in speaks.apis}):
        versions = (speaks.apis.get(api) for speaks in every)
        yield SpokenLine(api=api, cells=tuple("" if found is None else span(found) for found in versions))


def _steps(
    runs: Sequence[JudgedRun], columns: Sequence[MatrixColumn], lines: Sequence[MatrixRow]
) -> Iterator[Transition]:
    for number, (before, after) in enumerate(pairwise(columns)):
        if runs[number].kind != runs[number + 1].kind:
            continue
        changes = [
            VerdictChange(row=line.row, before=line.cells[number], after=line.cells[number + 1])
            for line in lines
            if line.cells[number + 1].changed
        ]
        yield Transition(before=before.name, after=after.name, changes=tuple(changes))
