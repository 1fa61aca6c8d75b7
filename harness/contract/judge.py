"""From evidence to verdict: pure, offline, and the same for today's run and last week's folder."""

import traceback

from harness.contract.expect import Finding, Witness
from harness.contract.requirement import LabT, Requirement
from harness.contract.verdict import Status, Verdict
from harness.evidence.requirement_evidence import Evidence, NotSeen


def judge(requirement: Requirement[LabT], evidence: Evidence, *, seconds: float = 0.0) -> Verdict:
    """The verdict on the evidence.

    Any finding is VIOLATED. No finding and no witness is NOT_EXERCISED, never HOLDS; so is a situation that the
    evidence lacks. A check that crashes is UNDECIDED with its trace: a crash proves nothing about the broker.
    """
    if evidence.unprepared is not None:
        return _verdict(requirement, Status.NOT_EXERCISED, seconds, reason=evidence.unprepared)
    findings: list[Finding] = []
    witnesses: list[Witness] = []
    try:
        for observation in requirement.check(evidence):
            (findings if isinstance(observation, Finding) else witnesses).append(observation)  # type: ignore[arg-type]
    except NotSeen as missing:
        if not findings:
            return _verdict(requirement, Status.NOT_EXERCISED, seconds, reason=str(missing), witnesses=len(witnesses))
    except Exception:  # noqa: BLE001  the judge is the one place where any crash becomes a verdict
        return _verdict(requirement, Status.UNDECIDED, seconds, reason=traceback.format_exc(limit=-3))
    if findings:
        return _verdict(requirement, Status.VIOLATED, seconds, findings=tuple(findings), witnesses=len(witnesses))
    if not witnesses:
        return _verdict(requirement, Status.NOT_EXERCISED, seconds, reason="the check examined no situation")
    return _verdict(requirement, Status.HOLDS, seconds, witnesses=len(witnesses))


def _verdict(
    requirement: Requirement[LabT],
    status: Status,
    seconds: float,
    *,
    findings: tuple[Finding, ...] = (),
    witnesses: int = 0,
    reason: str | None = None,
) -> Verdict:
    return Verdict(
        id=requirement.id,
        level=requirement.level,
        status=status,
        witnesses=witnesses,
        findings=findings,
        reason=reason,
        seconds=seconds,
    )
