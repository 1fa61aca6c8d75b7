"""View models of a round's page, made by pure functions; the template only places what it finds here."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.evidence.history.anomalies import find_anomalies
from harness.evidence.history.judgement import CheckResult
from harness.evidence.history.operation import FaultWindow
from harness.evidence.history.timeline import Timeline
from harness.report.chaos.anomaly_words import answered, moment_of, text, times
from harness.report.chaos.finding_rows import HistoryFindingView, findings
from harness.report.chaos.measured.round_spreads import SpreadTables, round_tables
from harness.report.chaos.round_facts import clients_of_roles, facts
from harness.report.chaos.round_picture import left_out, picture
from harness.report.chaos.round_results import RoundResults, explanation, headline, tally, warnings
from harness.report.shared.published_files import replay_command
from harness.report.shared.run_metadata import RunMetadata
from harness.report.shared.status_marks import StatusMark, StatusTally, mark, tallies
from harness.report.shared.words import ORDER, count, duration, letter, moment, pairs

PHASE_ORDER = ("calm", "storm", "heal", "settle")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckView:
    """A row of the checks' table; ``remarks`` are the anomalies with their numbers, or why there is no verdict."""

    mark: StatusMark
    name: str
    statement: str
    witnesses: str
    remarks: tuple[str, ...]
    took: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnomalyView:
    """The findings of one anomaly: its definition, those that are shown, and how many there are in all."""

    name: str
    meaning: str
    number: str
    findings: tuple[HistoryFindingView, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultView:
    letter: str
    name: str
    kind: str
    where: str
    began: str
    lasted: str
    struck: int
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyView:
    """A verb's row: for each phase the count and the percentiles, or None where it did nothing then."""

    verb: str
    cells: tuple[tuple[str, ...] | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPage:
    title: str
    about: RunMetadata
    headline: str
    explanation: str
    good: bool
    notes: tuple[str, ...]
    tallies: tuple[StatusTally, ...]
    scenario: str
    sentence: str
    played: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    finalized: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    started: str
    took: str
    again: str
    replay: str
    checks: tuple[CheckView, ...]
    anomalies: tuple[AnomalyView, ...]
    faults: tuple[FaultView, ...]
    picture: str
    left_out: str
    numbers: tuple[tuple[str, str], ...]
    phases: tuple[str, ...]
    latencies: tuple[LatencyView, ...]
    outcomes: tuple[tuple[str, str, str], ...]
    spreads: SpreadTables


def round_page(round_: RoundResults) -> RoundPage:
    timeline, run = round_.timeline, round_.run
    start = timeline.started if timeline else 0.0
    return RoundPage(
        title=f"{round_.about.name}: {round_.scenario}, seed {text(run.get('seed'))}",
        about=round_.about,
        headline=headline(round_),
        explanation=explanation(round_),
        good=round_.passes,
        notes=warnings(round_),
        tallies=tallies(tally(round_), digits=2),
        scenario=round_.scenario,
        sentence=round_.word("title"),
        played=tuple(_played(round_)),
        facts=facts(run),
        finalized=pairs(round_.about.finalized),
        versions=pairs(round_.about.versions),
        started=moment(round_.about.started) if round_.about.started else "",
        took=duration(round_.about.seconds * 1000) if round_.about.seconds else "",
        again=round_.again,
        replay=replay_command(round_.folder),
        checks=tuple(_check(check) for check in sorted(round_.checks, key=_severity)),
        anomalies=tuple(_anomaly(round_, name, number, start) for name, number in round_.anomalies.items()),
        faults=tuple(_fault(place, fault, start) for place, fault in enumerate(round_.faults)),
        picture=picture(timeline, round_.judgement) if timeline else "",
        left_out=left_out(timeline) if timeline else "",
        numbers=_numbers(timeline) if timeline else (),
        phases=_phases(timeline) if timeline else (),
        latencies=_latencies(timeline) if timeline else (),
        outcomes=_outcomes(timeline) if timeline else (),
        spreads=round_tables(round_),
    )


def _played(round_: RoundResults) -> Iterator[tuple[str, str]]:
    """What the round consists of, and whose client each role has."""
    yield from ((name, round_.word(name)) for name in ("workload", "clients") if round_.word(name))
    if roles := clients_of_roles(round_.run):
        yield "roles", ", ".join(f"{role}: {client}" for role, client in roles.items())
    if toxics := round_.word("toxics"):
        yield "toxics", toxics


def _severity(check: CheckResult) -> int:
    return ORDER.index(check.status.value)


def _check(check: CheckResult) -> CheckView:
    remarks = [f"{name}{times(number)}" for name, number in check.counts.items()]
    remarks += [check.undecided] if check.undecided else []
    remarks += [check.reason] if check.reason else []
    return CheckView(
        mark=mark(check.status.value),
        name=check.name,
        statement=check.statement,
        witnesses=f"{check.witnesses:,}",
        remarks=tuple(remarks),
        took=duration(check.seconds * 1000) if check.seconds else "",
    )


def _anomaly(round_: RoundResults, name: str, number: int, start: float) -> AnomalyView:
    shown, known = findings(round_.checks, name, start), find_anomalies().get(name)
    return AnomalyView(
        name=name,
        meaning=known.definition.replace("``", "") if known else "",
        number=count(number, "finding", "findings"),
        findings=shown,
        left_out=max(number - len(shown), 0),
    )


def _fault(place: int, fault: FaultWindow, start: float) -> FaultView:
    return FaultView(
        letter=letter(place),
        name=fault.name,
        kind=fault.kind,
        where=fault.where,
        began=moment_of(fault.started, start),
        lasted=duration(fault.ended - fault.started),
        struck=fault.struck,
        how=fault.how,
    )


def _numbers(timeline: Timeline) -> tuple[tuple[str, str], ...]:
    seconds = max((timeline.ended - timeline.started) / 1000, 1e-9)
    not_done = sum(each.count for each in timeline.tallies if each.outcome.value != "done")
    return (
        ("operations", f"{timeline.operations:,}"),
        ("transactions committed", f"{timeline.committed:,}"),
        ("committed per second", f"{timeline.committed / seconds:,.1f}"),
        ("refused or unsure", f"{not_done:,}"),
        ("actors", f"{timeline.actors_in_all:,}"),
    )


def _phases(timeline: Timeline) -> tuple[str, ...]:
    found = {each.phase for each in timeline.latencies}
    return tuple(sorted(found, key=lambda name: (PHASE_ORDER.index(name) if name in PHASE_ORDER else 9, name)))


def _latencies(timeline: Timeline) -> tuple[LatencyView, ...]:
    by_place = {
        (each.verb, each.phase): (
            f"{each.count:,}",
            *(duration(value) for value in (each.p50, each.p95, each.p99, each.longest)),
        )
        for each in timeline.latencies
    }
    verbs = [verb for verb in dict.fromkeys(each.verb for each in timeline.latencies) if verb != "begin"]
    return tuple(
        LatencyView(verb=verb, cells=tuple(by_place.get((verb, phase)) for phase in _phases(timeline)))
        for verb in verbs
    )


def _outcomes(timeline: Timeline) -> tuple[tuple[str, str, str], ...]:
    """Verb, what became of it, how often; what was done last."""
    ordered = sorted(timeline.tallies, key=lambda each: (each.outcome.value == "done", -each.count))
    return tuple(
        (each.verb, _became(each.outcome.value, each.error, each.reason), f"{each.count:,}") for each in ordered
    )


def _became(outcome: str, error: int | None, reason: str) -> str:
    words = answered(outcome, error, reason)
    return words if not reason or reason in words or outcome == "done" else f"{words}: {text(reason)}"
