"""View models of the page, made by pure functions from the results, the evidence and the journal.

The template only places what it finds here; nothing is judged, counted or cut there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.contract.requirement_catalogue import RequirementRow
from harness.contract.verdict import Verdict
from harness.evidence.exchange import Exchange
from harness.evidence.requirement_evidence import Evidence
from harness.report.contract.log_view import LogView, OffsetsView, logs, offsets
from harness.report.contract.results import RequirementResult, counts, explanation, headline
from harness.report.contract.steps import Band, ExchangeView, StepView, bands, span_of, steps, unnamed
from harness.report.shared.run_metadata import RunMetadata, span
from harness.report.shared.status_marks import StatusMark, StatusTally, mark, tallies
from harness.report.shared.words import count, duration, first_line, moment, pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One requirement in the grid; ``number`` is its id without KIP and group."""

    id: str
    number: str
    mark: StatusMark
    known: bool
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kip:
    """A block of the grid, and a chapter of the page: its requirements in order."""

    name: str
    kept: str
    groups: tuple[GroupView, ...]
    sections: tuple["Section", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingView:
    """A broken promise; ``steps`` are names with the anchors of the step rows that show it."""

    anomaly: str
    detail: str
    steps: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceView:
    """What a requirement's evidence looks like on the page; ``exchanges`` is how many unnamed ones there are in all."""

    steps: tuple[StepView, ...]
    bands: tuple[Band, ...]
    length: str
    exchanges: tuple[ExchangeView, ...]
    exchanges_in_all: int
    offsets: tuple[OffsetsView, ...]
    logs: tuple[LogView, ...]
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The page's part for one requirement; ``shown`` is None where there is no evidence."""

    row: RequirementRow
    mark: StatusMark
    open: bool
    known_failure: str
    stale: bool
    reason: str
    trace: str
    findings: tuple[FindingView, ...]
    examined: str
    took: str
    shown: EvidenceView | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The whole page; ``good`` when the exit code is 0."""

    about: RunMetadata
    title: str
    headline: str
    explanation: str
    good: bool
    started: str
    took: str
    advertised: str
    apis: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    supported: tuple[tuple[str, str], ...]
    finalized: tuple[tuple[str, str], ...]
    replay: str
    notes: tuple[str, ...]
    tallies: tuple[StatusTally, ...]
    kips: tuple[Kip, ...]


def page(
    about: RunMetadata,
    entries: Sequence[RequirementResult],
    evidence: Mapping[str, Evidence],
    exchanges: Sequence[Exchange],
    *,
    replay: str,
    notes: Sequence[str] = (),
) -> Page:
    """The whole page; ``evidence`` is by requirement id, ``replay`` the command that judges the folder again."""
    judged = any(entry.verdict for entry in entries)
    return Page(
        about=about,
        title=f"{about.name}: transaction promises",
        headline=headline(about.name, entries),
        explanation=explanation(entries),
        good=judged and not any(entry.prevents_passing for entry in entries),
        started=moment(about.started),
        took="" if about.seconds is None else duration(about.seconds * 1000),
        advertised=f"{count(len(about.apis), 'API', 'APIs')}, {count(len(about.supported), 'feature', 'features')}",
        apis=tuple((name, span(versions)) for name, versions in about.apis.items()),
        versions=pairs(about.versions),
        supported=pairs(about.supported),
        finalized=pairs(about.finalized),
        replay=replay,
        notes=tuple(notes),
        tallies=tallies(counts(entries), digits=3),
        kips=_kips(entries, evidence, exchanges),
    )


def _kips(
    entries: Sequence[RequirementResult], evidence: Mapping[str, Evidence], exchanges: Sequence[Exchange]
) -> tuple[Kip, ...]:
    journal = _by_requirement(exchanges)
    names = dict.fromkeys(entry.row.kip for entry in entries)
    return tuple(_kip(name, [e for e in entries if e.row.kip == name], evidence, journal) for name in names)


def _kip(
    name: str,
    entries: Sequence[RequirementResult],
    evidence: Mapping[str, Evidence],
    journal: Mapping[str, Sequence[Exchange]],
) -> Kip:
    groups = dict.fromkeys(entry.row.group for entry in entries)
    return Kip(
        name=name,
        kept=_kept(entries),
        groups=tuple(_group(group, [e for e in entries if e.row.group == group]) for group in groups),
        sections=tuple(
            section(entry, evidence_of(entry, evidence), journal.get(entry.row.id, ())) for entry in entries
        ),
    )


def _kept(entries: Sequence[RequirementResult]) -> str:
    found = counts(entries)
    aside = f", {found['NOT_OFFERED']} not offered" if "NOT_OFFERED" in found else ""
    return f"{found.get('HOLDS', 0)} of {len(entries)} kept{aside}"


def _group(name: str, entries: Sequence[RequirementResult]) -> GroupView:
    return GroupView(
        name=name,
        cells=tuple(
            Cell(
                id=entry.row.id,
                number=entry.row.id.split("-", 2)[-1],
                mark=mark(entry.status),
                known=entry.known,
                statement=entry.row.statement,
            )
            for entry in entries
        ),
    )


def evidence_of(entry: RequirementResult, evidence: Mapping[str, Evidence]) -> Evidence | None:
    """The evidence that the verdict rests on: its own, else a negative control's (``ID@anomaly``)."""
    findings = entry.verdict.findings if entry.verdict else ()
    names = (entry.row.id, *(f"{entry.row.id}@{finding.anomaly}" for finding in findings))
    controls = (name for name in evidence if name.startswith(f"{entry.row.id}@"))
    return next((evidence[name] for name in (*names, *controls) if name in evidence), None)


def section(entry: RequirementResult, evidence: Evidence | None, exchanges: Sequence[Exchange]) -> Section:
    """The page's part for one requirement; ``exchanges`` are the journal's that belong to it."""
    verdict = entry.verdict
    shown = _shown(entry, evidence, exchanges)
    reason = (verdict.reason if verdict else None) or ""
    return Section(
        row=entry.row,
        mark=mark(entry.status),
        open=entry.status not in ("HOLDS", "NOT_OFFERED", "NOT_JUDGED") or entry.stale,
        known_failure=(verdict.known_failure if verdict else None) or "",
        stale=entry.stale,
        reason=first_line(reason),
        trace=reason if "\n" in reason.strip() else "",
        findings=_findings(verdict, shown),
        examined=count(verdict.witnesses, "situation found as promised", "situations found as promised")
        if verdict
        else "",
        took=duration(verdict.seconds * 1000) if verdict and verdict.seconds else "",
        shown=shown,
    )


def _shown(entry: RequirementResult, evidence: Evidence | None, exchanges: Sequence[Exchange]) -> EvidenceView | None:
    if evidence is None:
        return None
    whole = span_of(evidence)  # the pictures' axis; the steps' own ends sooner, lest a long wait squeeze them
    stretch = replace(span_of(replace(evidence, samples=())), start=whole.start)
    findings = entry.verdict.findings if entry.verdict else ()
    by_number = {exchange.number: exchange for exchange in exchanges}
    lines, in_all = unnamed(exchanges, evidence, stretch)
    return EvidenceView(
        steps=steps(entry.row.id, evidence, findings, by_number, stretch),
        bands=bands(evidence.faults, stretch),
        length=duration(stretch.end - stretch.start),
        exchanges=lines,
        exchanges_in_all=in_all,
        offsets=offsets(evidence, bands(evidence.faults, whole), whole),
        logs=logs(evidence),
        facts=pairs(evidence.facts),
    )


def _findings(verdict: Verdict | None, shown: EvidenceView | None) -> tuple[FindingView, ...]:
    anchors = {step.name: step.anchor for step in reversed(shown.steps)} if shown else {}
    return tuple(
        FindingView(
            anomaly=finding.anomaly,
            detail=finding.detail,
            steps=tuple((name, anchors.get(name, "")) for name in dict.fromkeys(finding.steps)),
        )
        for finding in (verdict.findings if verdict else ())
    )


def _by_requirement(exchanges: Sequence[Exchange]) -> Mapping[str, Sequence[Exchange]]:
    found: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        if exchange.requirement is not None:
            found.setdefault(exchange.requirement, []).append(exchange)
    return found
