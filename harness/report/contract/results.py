"""Requirements beside their verdicts, and together: the counts and the headline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.level import Level, Profile
from harness.contract.verdict import Status, Verdict, kept, passes, stale
from harness.report.shared.status_marks import counted
from harness.report.shared.words import DIFFERS, KAFKA, NOT_JUDGED, ORDER, count, label


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementResult:
    """A requirement and its verdict; None where the run ended before it. The profile says whether it decides.

    :param than: Whose ways a kept promise may differ from.
    """

    row: RequirementRow
    verdict: Verdict | None
    profile: Profile = Profile.KAFKA
    than: str = KAFKA

    @property
    def status(self) -> str:
        """The status as it is shown (:func:`shown_status`), or ``NOT_JUDGED``."""
        return shown_status(self.verdict, self.profile) if self.verdict else NOT_JUDGED

    @property
    def anomalies(self) -> tuple[str, ...]:
        """The names of what was found broken, each once."""
        findings = self.verdict.findings if self.verdict else ()
        return tuple(dict.fromkeys(found.anomaly for found in findings))

    @property
    def words(self) -> str:
        """``violated: hanging-write``; details, which hold offsets and ids, make no difference."""
        return ": ".join(filter(None, (label(self.status).lower(), ", ".join(self.anomalies))))

    @property
    def known(self) -> bool:
        """Broken, and listed as a known failure."""
        return bool(self.verdict and self.verdict.known_failure and self.verdict.status is Status.VIOLATED)

    @property
    def stale(self) -> bool:
        """Listed as a known failure, yet it does not fail: the entry must go."""
        return self.verdict is not None and stale(self.verdict)

    @property
    def prevents_passing(self) -> bool:
        """Keeps the exit code from 0 (:func:`harness.contract.verdict.kept`); so does one that was not reached."""
        return not kept(self.verdict, self.profile) if self.verdict else self.profile.asks_for(self.row.level)


def shown_status(verdict: Verdict, profile: Profile) -> str:
    """The verdict's status; where only what the profile does not ask for is broken, ``DIFFERS``.

    If then what it does ask for was not examined to its end, that counts: NOT_EXERCISED, UNDECIDED or OUT_OF_REACH.
    """
    if verdict.status is not Status.VIOLATED or profile.asks_for(verdict.level):
        return verdict.status.value
    return verdict.rest.value if verdict.rest else DIFFERS


def join(
    rows: Sequence[RequirementRow],
    verdicts: Sequence[Verdict],
    profile: Profile = Profile.KAFKA,
    than: str = KAFKA,
) -> tuple[RequirementResult, ...]:
    """Every row with its verdict, then every verdict that has no row (its requirement has left the catalogue).

    Where a requirement was judged twice, the worse verdict counts: trying again must not hide a failure.
    """
    worst: dict[str, Verdict] = {}
    for verdict in sorted(verdicts, key=lambda verdict: ORDER.index(shown_status(verdict, profile)), reverse=True):
        worst[verdict.id] = verdict
    known = {row.id for row in rows}
    bare = [_bare(verdict) for verdict in worst.values() if verdict.id not in known]
    return tuple(
        RequirementResult(row=row, verdict=worst.get(row.id), profile=profile, than=than)
        for row in (*rows, *sorted(bare, key=lambda r: r.id))
    )


def counts(entries: Sequence[RequirementResult]) -> Mapping[str, int]:
    """How many entries are shown with each status that occurs, the worst first."""
    return counted(entry.status for entry in entries)


def kept_of(found: Mapping[str, int]) -> int:
    """How many promises are kept, as Kafka does or otherwise."""
    return found.get(Status.HOLDS, 0) + found.get(DIFFERS, 0)


def all_pass(entries: Sequence[RequirementResult]) -> bool:
    """Whether the exit code may be 0."""
    judged = [entry.verdict for entry in entries if entry.verdict]
    return bool(judged) and passes(judged, entries[0].profile) and not any(entry.prevents_passing for entry in entries)


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
    if ways:
        named = ", ".join(ways[:4]) + (f" and {len(ways) - 4} more" if len(ways) > 4 else "")
        return f"It does not pass, because of {count(len(ways), 'promise', 'promises')}: {named}."
    if not all_pass(entries):
        return "It does not pass: nothing could be tried, so nothing can be said of this target."
    return f"It passes: {_asked(entries)} {_passing_ways(entries)}{_differing(entries)}."


def _asked(entries: Sequence[RequirementResult]) -> str:
    return "every MUST" if entries[0].profile is Profile.KIP else "every promise"


def _passing_ways(entries: Sequence[RequirementResult]) -> str:
    found = counts(entries)
    ways = {"is not offered": "NOT_OFFERED" in found, "is out of reach": "OUT_OF_REACH" in found}
    ways["is a known failure"] = any(entry.known for entry in entries)
    told = ["holds", *(way for way, occurs in ways.items() if occurs)]
    return " or ".join(filter(None, (", ".join(told[:-1]), told[-1])))


def _differing(entries: Sequence[RequirementResult]) -> str:
    """What the profile does not ask for, and is not as Kafka does it."""
    number = counts(entries).get(DIFFERS, 0)
    differs, keeps = ("differs", "keeps") if number == 1 else ("differ", "keep")
    return (
        f"; {number} {differs} from {entries[0].than} and {keeps} the KIP, which does not fail with --profile kip"
        if number
        else ""
    )


def _head(name: str, entries: Sequence[RequirementResult], found: Mapping[str, int]) -> str:
    total, broken, keeps = len(entries), found.get(Status.VIOLATED, 0), kept_of(found)
    known = sum(entry.known for entry in entries if entry.status == Status.VIOLATED)
    promises, otherwise = "promise" if total == 1 else "promises", _otherwise(found, entries[0].than)
    if total == 1 and broken + keeps == 1:
        aside = ", a known failure" * known + otherwise
        return f"{name} {'keeps' if keeps else 'breaks'} the one promise that was judged{aside}"
    if not broken + keeps and not any(entry.prevents_passing for entry in entries):
        return f"No promise of {name} could be tried"
    if broken:
        aside = f" ({'all' if known == broken else known} known)" if known else ""
        return f"{name} breaks {broken} of {total} {promises}{aside} and keeps {keeps}{otherwise}"
    return f"{name} keeps {'all' if keeps == total else f'{keeps} of'} {total} {promises}{otherwise}"


def _otherwise(found: Mapping[str, int], than: str) -> str:
    """How many of the kept promises are kept in another way than Kafka's."""
    number, keeps = found.get(DIFFERS, 0), kept_of(found)
    if not number:
        return ""
    return f", otherwise than {than}" if number == keeps else f", {number} of them otherwise than {than}"


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
    old = sum(entry.stale for entry in entries)
    return parts + ([f"{old} known {'failure no longer fails' if old == 1 else 'failures no longer fail'}"] * bool(old))


def _bare(verdict: Verdict) -> RequirementRow:
    head, _, rest = verdict.id.partition("-")
    return RequirementRow(
        id=verdict.id,
        kip=head.replace("KIP", "KIP-"),
        group=rest.split("-")[0],
        level=Level.MUST if verdict.rest else str(verdict.level),
        statement="(this requirement is not in the catalogue at hand)",
        source="",
        section="",
        link="",
        file="",
        accepts=0,
        refuses=(),
        refuted_by=(),
    )
