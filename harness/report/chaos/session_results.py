"""The rounds of one session of chaos, and their result together."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.json_value import Json
from harness.base.user_error import ExitCode, UserError
from harness.evidence.history.kept_session import kept_session
from harness.evidence.json_codec import Malformed
from harness.evidence.situations.earlier_situations import EarlierSituations, read_earlier
from harness.evidence.situations.kept_situations import RoundSituations
from harness.evidence.status import Status
from harness.report.chaos.anomaly_words import broken_words, in_order, tallied
from harness.report.chaos.compared.session_times import ComparedTimes, compared, times_of
from harness.report.chaos.round_results import RoundResults, read_round
from harness.report.shared.run_metadata import field_text
from harness.report.shared.status_marks import counted
from harness.report.shared.words import NOT_JUDGED, count

ORDER = (
    Status.VIOLATED.value,
    Status.UNDECIDED.value,
    NOT_JUDGED,
    Status.NOT_EXERCISED.value,
    Status.OUT_OF_REACH.value,
    Status.HOLDS.value,
)
"""Conclusions of rounds, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResults:
    """A session's folder with its rounds, in the order in which they ran.

    :param command: Runs all of them again; empty where it was not kept.
    :param earlier: The earlier session that it is compared with; empty where there is none.
    :param before: What the sessions visited from which this one went on.
    """

    folder: Path
    rounds: tuple[RoundResults, ...]
    command: str = ""
    earlier: str = ""
    against: tuple[ComparedTimes, ...] = ()
    before: EarlierSituations | None = None

    @property
    def pages(self) -> tuple[str, ...]:
        """Where each round's page is, as a link relative to the session's folder."""
        folders = (os.path.relpath(each.folder, self.folder) for each in self.rounds)
        return tuple(Path(folder, "index.html").as_posix() for folder in folders)

    @property
    def tally(self) -> Mapping[str, int]:
        """How many rounds came to each conclusion that occurs, the worst first."""
        return counted((each.conclusion for each in self.rounds), ORDER)

    @property
    def anomalies(self) -> Mapping[str, int]:
        """In how many rounds each anomaly was found, by precedence."""
        found = [name for each in self.rounds for name in each.anomalies]
        return {name: found.count(name) for name in in_order(found)}

    @property
    def passes(self) -> bool:
        """Whether the exit code may be 0: a round holds, and each other one does too or is out of reach."""
        return Status.HOLDS.value in self.tally and all(each.passes for each in self.rounds)

    @property
    def name(self) -> str:
        """What the headline calls the target."""
        return self.rounds[0].tried if self.rounds else "The target"

    @property
    def committed(self) -> int:
        """Transactions that were committed, in all rounds."""
        return sum(each.timeline.committed for each in self.rounds if each.timeline)

    @property
    def situations(self) -> tuple[RoundSituations, ...]:
        """Of the rounds that recorded them."""
        return tuple(each.situations for each in self.rounds if each.situations is not None)

    @property
    def headline(self) -> str:
        total, found = count(len(self.rounds), "round", "rounds"), self.tally
        if broken := found.get(Status.VIOLATED.value, 0):
            return f"{self.name} {broken_words(list(self.anomalies))}; {broken} of {total} of chaos broke promises."
        if self.passes:
            tried = count(found[Status.HOLDS.value], "round", "rounds")
            return f"{self.name} keeps its transaction promises; {tried} of chaos tried them."
        if not self.rounds:
            return "No round of chaos was run."
        return f"It was not shown that {self.name} keeps its transaction promises; of {total} {tallied(found)}."

    @property
    def explanation(self) -> str:
        """What was done, in one sentence."""
        struck = sum(bool(fault.struck) for each in self.rounds for fault in each.faults)
        faults = sum(len(each.faults) for each in self.rounds)
        parts = f"It {'passes' if self.passes else 'does not pass'}" + (
            f": {tallied(self.tally)}" if self.tally else ""
        )
        return f"{parts}; {self.committed:,} transactions committed; {struck:,} of {faults:,} faults struck."


def read_session(folder: Path, rounds: Sequence[Path]) -> SessionResults:
    """The session with the rounds in these folders; :raises UserError: when one cannot be read."""
    read = tuple(read_round(each) for each in rounds)
    kept = kept_session(folder)
    earlier = kept.get("earlier")
    results = SessionResults(
        folder=folder.absolute(), rounds=read, command=field_text(kept.get("command")), before=_before(folder)
    )
    if not isinstance(earlier, dict):
        return results
    times = earlier.get("times")
    against = compared(times if isinstance(times, dict) else {}, times_of(read))
    return replace(results, earlier=field_text(earlier.get("name")), against=against)


def _before(folder: Path) -> EarlierSituations | None:
    try:
        return read_earlier(folder)
    except Malformed as error:
        raise UserError(f"{folder} cannot be read: {error}", exit=ExitCode.EVIDENCE_UNREADABLE) from error


def earlier_session(rounds: Sequence[Path]) -> dict[str, Json] | None:
    """What a session keeps of an earlier one, whose rounds these are; None where there are none."""
    if not rounds:
        return None
    read = [read_round(each) for each in rounds]
    name = f"{read[0].about.name}, {rounds[0].parent.name}, {count(len(read), 'round', 'rounds')}"
    return {"name": name, "times": times_of(read)}
