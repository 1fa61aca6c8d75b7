"""Requirements beside their verdicts, and together: the counts and the headline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.contract.level import Profile
from harness.contract.requirement_catalogue import RequirementRow
from harness.contract.verdict import Status, Verdict, kept
from harness.report.shared.status_marks import counted
from harness.report.shared.words import NOT_JUDGED, ORDER


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementResult:
    """A requirement and its verdict; None where the run ended before it. The profile says whether it decides."""

    row: RequirementRow
    verdict: Verdict | None
    profile: Profile = Profile.KAFKA

    @property
    def status(self) -> str:
        """The verdict's status, or ``NOT_JUDGED``."""
        return self.verdict.status.value if self.verdict else NOT_JUDGED

    @property
    def known(self) -> bool:
        """Broken, and listed as a known failure."""
        return self.status == Status.VIOLATED and bool(self.verdict and self.verdict.known_failure)

    @property
    def stale(self) -> bool:
        """Listed as a known failure, yet it holds: the entry must go."""
        return self.status == Status.HOLDS and bool(self.verdict and self.verdict.known_failure)

    @property
    def prevents_passing(self) -> bool:
        """Keeps the exit code from 0 (:func:`harness.contract.verdict.kept`); so does one that was not reached."""
        return not kept(self.verdict, self.profile) if self.verdict else self.profile.asks_for(self.row.level)


def join(
    rows: Sequence[RequirementRow], verdicts: Sequence[Verdict], profile: Profile = Profile.KAFKA
) -> tuple[RequirementResult, ...]:
    """Every row with its verdict, then every verdict that has no row (its requirement has left the catalogue).

    Where a requirement was judged twice, the worse verdict counts: trying again must not hide a failure.
    """
    worst: dict[str, Verdict] = {}
    for verdict in sorted(verdicts, key=lambda verdict: ORDER.index(verdict.status.value), reverse=True):
        worst[verdict.id] = verdict
    known = {row.id for row in rows}
    bare = [_bare(verdict) for verdict in worst.values() if verdict.id not in known]
    return tuple(
        RequirementResult(row=row, verdict=worst.get(row.id), profile=profile)
        for row in (*rows, *sorted(bare, key=lambda r: r.id))
    )


def counts(entries: Sequence[RequirementResult]) -> Mapping[str, int]:
    """How many entries have each status that occurs, the worst first."""
    return counted(entry.status for entry in entries)


def headline(name: str, entries: Sequence[RequirementResult]) -> str:
    """The result in one sentence: ``Kafka 4.3.1 keeps 38 of 40 promises; 2 are not offered.``"""
    found, total = counts(entries), len(entries)
    if total - found.get(NOT_JUDGED, 0) == 0:
        return f"No promise of {name} was judged" + (f"; {total} were not reached." if total else ".")
    return "; ".join((_head(name, entries, found), *_tail(entries, found))) + "."


def explanation(entries: Sequence[RequirementResult]) -> str:
    """What the headline means for the exit code, as one sentence."""
    ways = [entry.row.id for entry in entries if entry.prevents_passing]
    if not any(entry.verdict for entry in entries):
        return "Nothing can be said of this target."
    if not ways:
        return f"It passes: {_asked(entries)} holds, is not offered, is out of reach, or is a known failure."
    named = ", ".join(ways[:4]) + (f" and {len(ways) - 4} more" if len(ways) > 4 else "")
    return f"It does not pass, because of {len(ways)} {'promise' if len(ways) == 1 else 'promises'}: {named}."


def _asked(entries: Sequence[RequirementResult]) -> str:
    return "every MUST" if entries[0].profile is Profile.KIP else "every promise"


def _head(name: str, entries: Sequence[RequirementResult], found: Mapping[str, int]) -> str:
    total, broken, kept = len(entries), found.get(Status.VIOLATED, 0), found.get(Status.HOLDS, 0)
    known = sum(entry.known for entry in entries)
    promises = "promise" if total == 1 else "promises"
    if total == 1 and broken + kept == 1:
        return f"{name} {'keeps' if kept else 'breaks'} the one promise that was judged" + (", a known failure" * known)
    if broken:
        aside = f" ({'all' if known == broken else known} known)" if known else ""
        return f"{name} breaks {broken} of {total} {promises}{aside} and keeps {kept}"
    if kept == total:
        return f"{name} keeps all {total} promises"
    return f"{name} keeps {kept} of {total} {promises}"


def _tail(entries: Sequence[RequirementResult], found: Mapping[str, int]) -> list[str]:
    phrases = {
        Status.NOT_OFFERED.value: "not offered",
        Status.NOT_EXERCISED.value: "not exercised",
        Status.OUT_OF_REACH.value: "out of reach",
        Status.UNDECIDED.value: "undecided",
        NOT_JUDGED: "not judged",
    }
    parts = [
        f"{found[status]} {'is' if found[status] == 1 else 'are'} {phrase}"
        for status, phrase in phrases.items()
        if status in found
    ]
    stale = sum(entry.stale for entry in entries)
    return parts + (
        [f"{stale} known {'failure no longer fails' if stale == 1 else 'failures no longer fail'}"] * bool(stale)
    )


def _bare(verdict: Verdict) -> RequirementRow:
    head, _, rest = verdict.id.partition("-")
    return RequirementRow(
        id=verdict.id,
        kip=head.replace("KIP", "KIP-"),
        group=rest.split("-")[0],
        level=str(verdict.level),
        statement="(this requirement is not in the catalogue at hand)",
        source="",
        section="",
        link="",
        file="",
        accepts=0,
        refuses=(),
        refuted_by=(),
    )
