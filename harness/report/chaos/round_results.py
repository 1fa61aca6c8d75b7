"""One round of chaos as a report reads it, from its folder alone; what an interrupted round lacks is empty."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.json_value import Json
from harness.base.user_error import ExitCode, UserError
from harness.evidence.history.judgement import CheckResult, Judgement
from harness.evidence.history.operation import FaultWindow
from harness.evidence.history.timeline import Timeline, load_timeline
from harness.evidence.json_codec import Malformed, from_json
from harness.evidence.run_facts import facts_of
from harness.evidence.run_folder import RunFolder
from harness.evidence.situations.kept_situations import RoundSituations, read_situations
from harness.evidence.status import Status
from harness.report.chaos.anomaly_words import broken_words, in_order, tallied
from harness.report.shared.run_metadata import RunMetadata, field_text, run_metadata
from harness.report.shared.status_marks import counted
from harness.report.shared.words import NOT_JUDGED, count

JUDGEMENT = "judgement.json"
PASSING = (Status.HOLDS.value, Status.OUT_OF_REACH.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResults:
    """A round's folder, read.

    :param run: ``run.json``, whole.
    :param judgement: None where the round ended before it was judged.
    :param situations: None where they were not recorded.
    :param timeline: None where there is none; the picture, the faults and the latencies are then missing.
    """

    folder: Path
    run: Mapping[str, Json]
    about: RunMetadata
    judgement: Judgement | None
    timeline: Timeline | None
    situations: RoundSituations | None = None

    @property
    def conclusion(self) -> str:
        """The judgement's conclusion, ``OUT_OF_REACH`` where nothing could be tried, or ``NOT_JUDGED``."""
        if self.judgement:
            return self.judgement.status.value
        return Status.OUT_OF_REACH.value if self.out_of_reach else NOT_JUDGED

    @property
    def out_of_reach(self) -> str:
        """Why no toxic of the scenario can strike on this target; empty where one can."""
        return self.word("out_of_reach")

    @property
    def anomalies(self) -> Mapping[str, int]:
        """How many findings of each anomaly, by precedence."""
        found = self.judgement.anomalies if self.judgement else {}
        return {name: found[name] for name in in_order(list(found))}

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """The checks, in the order in which the judge made them."""
        return self.judgement.checks if self.judgement else ()

    @property
    def faults(self) -> tuple[FaultWindow, ...]:
        return self.timeline.faults if self.timeline else ()

    @property
    def missed(self) -> tuple[FaultWindow, ...]:
        return tuple(fault for fault in self.faults if not fault.struck)

    @property
    def scenario(self) -> str:
        """Its name; the folder's where it is not recorded."""
        return self.word("scenario") or self.folder.name

    @property
    def tried(self) -> str:
        """Who is: the target, with the clients that somebody chose."""
        chosen = bool(self.run.get("clients_are_judged")) and self.word("clients")
        return f"{self.about.name} with {chosen}" if chosen else self.about.name

    @property
    def again(self) -> str:
        """The one command that runs it again; empty where it is not recorded."""
        return self.about.command

    @property
    def facts(self) -> Mapping[str, Json]:
        """What was noted while it settled; empty where it did not come so far."""
        return facts_of(self.run)

    @property
    def passes(self) -> bool:
        """Whether it keeps a session green; by itself one that is out of reach shows nothing."""
        return self.conclusion in PASSING

    def word(self, name: str) -> str:
        """A field of ``run.json`` as text; a list's items are set apart by commas."""
        return field_text(self.run.get(name))


def read_round(folder: Path) -> RoundResults:
    """The round in a folder.

    :raises UserError: EVIDENCE_UNREADABLE, when one of its files is there and cannot be read.
    """
    try:
        judgement, timeline, situations = _judgement(folder), load_timeline(folder), read_situations(folder)
    except (OSError, ValueError, Malformed) as error:
        raise UserError(f"{folder} cannot be read: {error}", exit=ExitCode.EVIDENCE_UNREADABLE) from error
    run = RunFolder(folder.absolute()).run()
    return RoundResults(
        folder=folder.absolute(),
        run=run,
        about=run_metadata(run),
        judgement=judgement,
        timeline=timeline,
        situations=situations,
    )


def headline(round_: RoundResults) -> str:
    """The result in one sentence: about the promises before the semicolon, about the round after it."""
    name, tried = round_.tried, f"“{round_.scenario}” with seed {round_.about.seed}"
    match round_.conclusion:
        case Status.VIOLATED:
            return f"{name} {broken_words(list(round_.anomalies))}; shown by {tried}."
        case Status.HOLDS:
            return f"{name} keeps its transaction promises; tried by {tried}."
        case Status.UNDECIDED:
            return f"It cannot be said whether {name} keeps its transaction promises; tried by {tried}."
        case Status.NOT_EXERCISED:
            why = round_.judgement.lacking if round_.judgement else ""
            return f"Nothing was shown of {name}; {why or 'no check had anything to examine'} in {tried}."
        case Status.OUT_OF_REACH:
            return f"{name} was not tried by “{round_.scenario}”: {round_.out_of_reach}."
    return f"{name} was not judged; {tried} ended before."


def explanation(round_: RoundResults) -> str:
    """The result of the checks in one sentence."""
    if round_.out_of_reach:
        return "On a cluster that is not ours this is no failure, and shows nothing."
    if not round_.checks:
        return "There is no verdict in this folder."
    findings = sum(round_.anomalies.values())
    found = f"; {count(findings, 'finding', 'findings')} in all" if findings else ""
    passes = "passes" if round_.passes else "does not pass"
    return f"It {passes}: of {len(round_.checks)} checks {tallied(tally(round_))}{found}."


def tally(round_: RoundResults) -> Mapping[str, int]:
    """How many checks came to each status that occurs, the worst first."""
    return counted(check.status.value for check in round_.checks)


def warnings(round_: RoundResults) -> tuple[str, ...]:
    """What a reader must know before believing any of it: faults that did not strike, evidence that is limited."""
    parts = list(round_.judgement.notes) if round_.judgement else []
    if round_.missed:
        names = ", ".join(f"{fault.name} on {fault.where}" for fault in round_.missed[:5])
        more = f" and {len(round_.missed) - 5} more" if len(round_.missed) > 5 else ""
        of = f"{len(round_.missed)} of {count(len(round_.faults), 'fault', 'faults')}"
        parts.insert(0, f"{of} did not strike, and so proved nothing: {names}{more}.")
    if round_.judgement and round_.timeline is None:
        parts.append("The folder has no timeline.json: the picture, the faults and the latencies are missing here.")
    parts += round_.timeline.notes if round_.timeline else ()
    return tuple(dict.fromkeys(parts))


def _judgement(folder: Path) -> Judgement | None:
    path = folder / JUDGEMENT
    return from_json(Judgement, path.read_text(encoding="utf-8")) if path.is_file() else None
