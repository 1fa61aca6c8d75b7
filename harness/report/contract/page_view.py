"""View models of the page, made by pure functions from the results, the evidence and the journal.

The template only places what it finds here; nothing is judged, counted or cut there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.expect import Finding
from harness.contract.level import Level, Profile
from harness.contract.verdict import Status, Verdict
from harness.evidence.exchange import Exchange
from harness.evidence.requirement_evidence import Evidence
from harness.report.clients.client_story import CallView, ClientStory, names_in, story
from harness.report.contract.changes import ChangedVerdict, against, changes
from harness.report.contract.log_view import LogView, OffsetsView, logs, offsets
from harness.report.contract.results import RequirementResult, all_pass, counts, explanation, headline, kept_of
from harness.report.contract.shared_reasons import shared_reasons
from harness.report.contract.steps import Band, ExchangeView, StepView, bands, span_of, steps, unnamed
from harness.report.shared.run_metadata import RunMetadata, span
from harness.report.shared.status_marks import StatusMark, StatusTally, mark, tallies
from harness.report.shared.words import (
    NOT_JUDGED,
    access_words,
    count,
    duration,
    first_line,
    label,
    moment,
    pairs,
    title,
)

PROFILES = {
    Profile.KIP: "kip: what a KIP promises decides",
    Profile.KAFKA: "kafka: also how Apache Kafka itself does it decides",
}
CLOSED = (Status.HOLDS, Status.OUT_OF_REACH, Status.NOT_OFFERED, NOT_JUDGED)


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
    """A broken promise; ``steps`` are names with the anchors of the step rows that show it.

    ``level`` says that only Kafka does it so; empty where a KIP promises it.
    """

    anomaly: str
    level: str
    detail: str
    steps: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonView:
    """A reason for which something was not shown, once, and the ids of the requirements that have it."""

    anchor: str
    mark: StatusMark
    reason: str
    number: str
    ids: tuple[str, ...]


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
    story: ClientStory | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The page's part for one requirement; ``shown`` is None where there is no evidence.

    ``words`` is the status with what qualifies it; ``shared`` the reason that others have too, if any.
    """

    row: RequirementRow
    mark: StatusMark
    words: str
    access: str
    shared: ReasonView | None
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
    profile: str
    replay: str
    notes: tuple[str, ...]
    tallies: tuple[StatusTally, ...]
    reasons: tuple[ReasonView, ...]
    kips: tuple[Kip, ...]
    against: str
    changes: tuple[ChangedVerdict, ...]


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
    reasons = _reasons(entries)
    return Page(
        about=about,
        title=f"{about.name}: transaction promises",
        headline=headline(about.name, entries),
        explanation=explanation(entries),
        good=all_pass(entries),
        started=moment(about.started),
        took="" if about.seconds is None else duration(about.seconds * 1000),
        advertised=f"{count(len(about.apis), 'API', 'APIs')}, {count(len(about.supported), 'feature', 'features')}",
        apis=tuple((name, span(versions)) for name, versions in about.apis.items()),
        versions=pairs(about.versions),
        supported=pairs(about.supported),
        finalized=pairs(about.finalized),
        profile=PROFILES[about.profile],
        replay=replay,
        notes=tuple(notes),
        tallies=tallies(counts(entries), digits=3),
        reasons=reasons,
        kips=_kips(entries, evidence, exchanges, {id_: reason for reason in reasons for id_ in reason.ids}),
        against=against(about),
        changes=changes(about, entries),
    )


def _reasons(entries: Sequence[RequirementResult]) -> tuple[ReasonView, ...]:
    return tuple(
        ReasonView(anchor=f"reason-{number}", mark=mark(one.status), reason=one.reason, number=one.number, ids=one.ids)
        for number, one in enumerate(shared_reasons(entries), start=1)
    )


def _kips(
    entries: Sequence[RequirementResult],
    evidence: Mapping[str, Evidence],
    exchanges: Sequence[Exchange],
    reasons: Mapping[str, ReasonView],
) -> tuple[Kip, ...]:
    journal, kips = _by_requirement(exchanges), []
    for name in dict.fromkeys(entry.row.kip for entry in entries):
        own = [entry for entry in entries if entry.row.kip == name]
        sections = (section(e, evidence_of(e, evidence), journal.get(e.row.id, ()), reasons.get(e.row.id)) for e in own)
        kips.append(Kip(name=name, kept=_kept(own), groups=_groups(own), sections=tuple(sections)))
    return tuple(kips)


def _kept(entries: Sequence[RequirementResult]) -> str:
    found = counts(entries)
    asides = [f", {found[s]} {label(s).lower()}" for s in ("OUT_OF_REACH", "NOT_OFFERED") if s in found]
    return f"{kept_of(found)} of {len(entries)} kept{''.join(asides)}"


def _groups(entries: Sequence[RequirementResult]) -> tuple[GroupView, ...]:
    names = dict.fromkeys(entry.row.group for entry in entries)
    return tuple(_group(name, [entry for entry in entries if entry.row.group == name]) for name in names)


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


def section(
    entry: RequirementResult,
    evidence: Evidence | None,
    exchanges: Sequence[Exchange],
    reason_shown: ReasonView | None = None,
) -> Section:
    """The page's part for one requirement; ``exchanges`` are the journal's that belong to it.

    It is open where there is something to see that is not told above it, once for several requirements.
    """
    verdict = entry.verdict
    shown = _shown(entry, evidence, exchanges)
    shared = reason_shown if reason_shown and len(reason_shown.ids) > 1 else None
    reason = (verdict.reason if verdict else None) or ""
    return Section(
        row=entry.row,
        mark=mark(entry.status),
        words=_words(entry),
        access=access_words(entry.row.access),
        shared=shared,
        open=bool(verdict and verdict.findings) or (entry.status not in CLOSED and not shared) or entry.stale,
        known_failure=(verdict.known_failure if verdict else None) or "",
        stale=entry.stale,
        reason=first_line(reason),
        trace=reason if "\n" in reason.strip() else "",
        findings=_findings(verdict, shown, entry.than),
        examined=count(verdict.witnesses, "situation found as promised", "situations found as promised")
        if verdict
        else "",
        took=duration(verdict.seconds * 1000) if verdict and verdict.seconds else "",
        shown=shown,
    )


def _words(entry: RequirementResult) -> str:
    """``Violated, known``; ``Violated, SHOULD`` where what is broken is less binding than the requirement."""
    lower = entry.verdict and entry.status == Status.VIOLATED and entry.verdict.level != entry.row.level
    level = f", {entry.verdict.level}" if entry.verdict and lower else ""
    return title(entry.status, entry.than) + level + ", known" * entry.known


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
        story=story(entry.row.id, evidence, findings),
    )


def _findings(verdict: Verdict | None, shown: EvidenceView | None, than: str) -> tuple[FindingView, ...]:
    anchors = _anchors(shown) if shown else {}
    return tuple(
        FindingView(
            anomaly=finding.anomaly,
            level=""
            if finding.level == Level.MUST
            else f"{finding.level}: {than[0].upper()}{than[1:]} does so, no KIP promises it",
            detail=finding.detail,
            steps=tuple((name, anchors.get(name, "")) for name in _shown_by(finding, anchors)),
        )
        for finding in (verdict.findings if verdict else ())
    )


def _anchors(shown: EvidenceView) -> Mapping[str, str]:
    """Of every step and call by name; of several of one name that of the first."""
    chapters = shown.story.chapters if shown.story else ()
    calls = [item for chapter in chapters for item in chapter.items if isinstance(item, CallView)]
    found = [*((step.name, step.anchor) for step in shown.steps), *((call.name, call.anchor) for call in calls)]
    return dict(reversed(found))


def _shown_by(finding: Finding, anchors: Mapping[str, str]) -> Sequence[str]:
    return tuple(dict.fromkeys((*finding.steps, *names_in(finding, anchors))))


def _by_requirement(exchanges: Sequence[Exchange]) -> Mapping[str, Sequence[Exchange]]:
    found: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        if exchange.requirement is not None:
            found.setdefault(exchange.requirement, []).append(exchange)
    return found
