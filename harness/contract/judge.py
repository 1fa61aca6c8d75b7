"""From evidence to verdict: pure, offline, and the same for today's run and last week's folder."""

import traceback
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from harness.contract.expect import Finding, NotLooked, Observation, Witness
from harness.contract.level import Level, strongest, weaker
from harness.contract.requirement import LabT, Offers, Requirement
from harness.contract.verdict import Status, Verdict
from harness.evidence.requirement_evidence import Evidence, NotSeen


def judge(requirement: Requirement[LabT], evidence: Evidence, *, seconds: float = 0.0) -> Verdict:
    """The verdict on the evidence.

    The check always runs on what there is. Any finding is VIOLATED, whatever was missing or crashed after it; the
    reason stands beside it. Else a situation that was not brought about, or that the evidence lacks, is NOT_EXERCISED
    (OUT_OF_REACH where the target gives no power over it), and so is a check without any witness, or one whose
    requirement needs a look that told nothing. A check that crashes is UNDECIDED with its trace: a crash proves
    nothing about the broker.

    What a stimulus that ended early left open is no fault of the broker: its logs are not shown to the check.
    """
    cut_short = evidence.unprepared is not None
    seen = _observed(requirement.check(replace(evidence, logs={}) if cut_short else evidence))
    unfound, reason = seen.conclusion({need.api for need in requirement.needs if isinstance(need, Offers)})
    if cut_short:
        unfound = Status.OUT_OF_REACH if evidence.out_of_reach else Status.NOT_EXERCISED
        reason = evidence.unprepared
    findings = tuple(replace(found, level=weaker(requirement.level, found.level)) for found in seen.findings)
    level = strongest({found.level for found in findings} or {requirement.level})
    only_habits = requirement.level is Level.MUST and level is not Level.MUST
    return Verdict(
        id=requirement.id,
        level=level,
        status=Status.VIOLATED if findings else unfound,
        rest=unfound if only_habits and reason is not None else None,
        witnesses=seen.witnesses,
        findings=findings,
        reason=reason,
        seconds=seconds,
    )


def without_evidence(requirement: Requirement[LabT], status: Status, reason: str) -> Verdict:
    """The verdict on a promise that was not tried."""
    return Verdict(id=requirement.id, level=requirement.level, status=status, reason=reason)


@dataclass(slots=True, kw_only=True)
class Observed:
    """What a check yielded until it ended.

    :param missing: What the evidence lacks.
    :param crash: The trace of a check that crashed.
    """

    findings: list[Finding] = field(default_factory=list)
    witnesses: int = 0
    not_looked: list[NotLooked] = field(default_factory=list)
    missing: str | None = None
    crash: str | None = None

    def add(self, observation: Observation) -> None:
        match observation:
            case Finding():
                self.findings.append(observation)
            case Witness():
                self.witnesses += 1
            case NotLooked():
                self.not_looked.append(observation)

    def conclusion(self, needed: Collection[str]) -> tuple[Status, str | None]:
        """The status as far as there is no finding, and why for every status but HOLDS.

        :param needed: APIs without which nothing can be said.
        """
        if early := self.missing or self.crash:
            return (Status.UNDECIDED if self.crash else Status.NOT_EXERCISED), early
        if missed := [look.what for look in self.not_looked if look.api in needed]:
            return Status.NOT_EXERCISED, f"nothing was told by {', '.join(dict.fromkeys(missed))}"
        if self.witnesses or self.findings:
            return Status.HOLDS, None
        unseen = f"; not looked at: {', '.join(dict.fromkeys(look.what for look in self.not_looked))}"
        return Status.NOT_EXERCISED, "the check examined no situation" + (unseen if self.not_looked else "")


def _observed(check: Iterable[Observation]) -> Observed:
    seen = Observed()
    try:
        for observation in check:
            seen.add(observation)
    except NotSeen as missing:
        seen.missing = str(missing)
    except Exception:  # noqa: BLE001  the judge is the one place where any crash becomes a verdict
        seen.crash = traceback.format_exc(limit=-3)
    return seen
