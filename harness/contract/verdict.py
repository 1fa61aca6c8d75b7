"""What the judge says of one requirement."""

from dataclasses import dataclass

from harness.contract.expect import Finding
from harness.contract.level import Profile
from harness.evidence.status import Status as Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one requirement.

    ``level`` is the requirement's; of VIOLATED that of its most binding finding, where that is weaker.
    ``witnesses`` counts the situations really examined; ``reason`` says why for every status but HOLDS, and of VIOLATED
    what could not be examined beside it; ``known_failure`` is the link or reason from the list of known failures;
    ``seconds`` is what the item took.
    """

    id: str
    level: str
    status: Status
    witnesses: int = 0
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    known_failure: str | None = None
    seconds: float = 0.0


FAILING = frozenset({Status.VIOLATED, Status.UNDECIDED, Status.NOT_EXERCISED})
"""What keeps the exit code from 0, where the profile asks for the promise."""


def kept(verdict: Verdict, profile: Profile) -> bool:
    """Whether the verdict lets the exit code be 0.

    It does where the promise holds, does not apply, is out of reach, or is not asked for by the profile. A known
    failure must still fail, or be out of reach: one that holds is stale.
    """
    if verdict.known_failure is not None:
        return verdict.status in (Status.VIOLATED, Status.OUT_OF_REACH)
    return verdict.status not in FAILING or not profile.asks_for(verdict.level)
