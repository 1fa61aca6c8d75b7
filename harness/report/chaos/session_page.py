"""View models of a session's page, made by pure functions; the template only places what it finds here."""

from dataclasses import dataclass

from harness.report.chaos.anomaly_words import text, times
from harness.report.chaos.compared.session_times import METHOD
from harness.report.chaos.measured.session_spreads import SessionSpreads, session_spreads
from harness.report.chaos.round_results import RoundResults
from harness.report.chaos.session_results import SessionResults
from harness.report.chaos.visited.session_situations import SituationTable, situation_table
from harness.report.shared.published_files import replay_command
from harness.report.shared.run_metadata import RunMetadata
from harness.report.shared.status_marks import StatusMark, StatusTally, mark, tallies
from harness.report.shared.words import duration, moment, pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRow:
    """A round in the table; ``missed`` is how many of its faults did not strike, ``again`` empty for a green one."""

    number: int
    mark: StatusMark
    page: str
    scenario: str
    sentence: str
    seed: str
    anomalies: tuple[str, ...]
    struck: str
    missed: str
    committed: str
    situations: str
    took: str
    again: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    title: str
    about: RunMetadata | None
    headline: str
    explanation: str
    good: bool
    notes: tuple[str, ...]
    tallies: tuple[StatusTally, ...]
    versions: tuple[tuple[str, str], ...]
    started: str
    took: str
    command: str
    replay: str
    rounds: tuple[RoundRow, ...]
    earlier: str
    against: tuple[tuple[str, ...], ...]
    method: str
    situations: SituationTable | None
    spreads: SessionSpreads


def session_page(session: SessionResults) -> SessionPage:
    about = session.rounds[0].about if session.rounds else None
    seconds = sum(each.about.seconds or 0.0 for each in session.rounds)
    return SessionPage(
        title=f"{session.name}: chaos",
        about=about,
        headline=session.headline,
        explanation=session.explanation,
        good=session.passes,
        notes=_notes(session),
        tallies=tallies(session.tally, digits=2),
        versions=pairs(about.versions) if about else (),
        started=moment(about.started) if about and about.started else "",
        took=duration(seconds * 1000) if seconds else "",
        command=session.command,
        replay=replay_command(session.folder),
        earlier=session.earlier,
        against=tuple((*each.words, each.meaning) for each in session.against),
        method=METHOD,
        situations=situation_table(session.situations, session.before),
        spreads=session_spreads(session.rounds),
        rounds=tuple(
            _row(number, each, page)
            for number, (each, page) in enumerate(zip(session.rounds, session.pages, strict=True), start=1)
        ),
    )


def _row(number: int, round_: RoundResults, page: str) -> RoundRow:
    timeline, seconds = round_.timeline, round_.about.seconds
    return RoundRow(
        number=number,
        mark=mark(round_.conclusion),
        page=page if (round_.folder / "index.html").is_file() else "",
        scenario=round_.scenario,
        sentence=round_.word("title"),
        seed=text(round_.about.seed),
        anomalies=tuple(f"{name}{times(found)}" for name, found in round_.anomalies.items()),
        struck=f"{len(round_.faults) - len(round_.missed)} of {len(round_.faults)}" if timeline else "–",
        missed=", ".join(dict.fromkeys(fault.name for fault in round_.missed)),
        committed=f"{timeline.committed:,}" if timeline else "–",
        situations=_visited(round_),
        took=duration(seconds * 1000) if seconds else "",
        again="" if round_.passes else round_.again,
    )


def _visited(round_: RoundResults) -> str:
    found = round_.situations
    return f"{len(found.visits)} of {len(found.wanted | {each.situation for each in found.visits})}" if found else "–"


def _notes(session: SessionResults) -> tuple[str, ...]:
    missed = [fault for each in session.rounds for fault in each.missed]
    if not missed:
        return ()
    names = ", ".join(dict.fromkeys(fault.name for fault in missed))
    total = sum(len(each.faults) for each in session.rounds)
    return (f"{len(missed)} of {total} faults did not strike, and so proved nothing: {names}.",)
