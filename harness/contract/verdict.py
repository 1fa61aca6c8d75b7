"""What the judge says of one requirement."""

from dataclasses import dataclass

from harness.contract.expect import Finding
from harness.evidence.status import Status as Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one requirement.

    ``witnesses`` counts the situations really examined; ``reason`` says why for every status but HOLDS and VIOLATED;
    ``known_failure`` is the link or reason from ``suites/known_failing``; ``seconds`` is what the item took.
    """

    id: str
    level: str
    status: Status
    witnesses: int = 0
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    known_failure: str | None = None
    seconds: float = 0.0


def kept(verdict: Verdict) -> bool:
    """Whether the verdict lets the exit code be 0: a MUST holds, does not apply, or is a known failure that fails."""
    if verdict.known_failure is not None:
        return verdict.status == Status.VIOLATED
    return verdict.level != "MUST" or verdict.status in (Status.HOLDS, Status.NOT_OFFERED)
