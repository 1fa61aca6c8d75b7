"""What the judge says of one requirement."""

from collections.abc import Collection
from dataclasses import dataclass

from harness.contract.expect import Finding
from harness.contract.level import Profile
from harness.evidence.status import Status as Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one requirement.

    ``level`` is the requirement's; of VIOLATED that of its most binding finding, where that is weaker. ``rest`` is set
    where a KIP's promise (MUST) was not examined to its end and only a habit of Kafka's was found broken before: what
    the verdict is without those findings.
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
    rest: Status | None = None


FAILING = frozenset({Status.VIOLATED, Status.UNDECIDED, Status.NOT_EXERCISED})
"""What keeps the exit code from 0, where the profile asks for the promise."""


def kept(verdict: Verdict, profile: Profile) -> bool:
    """Whether the verdict lets the exit code be 0.

    It does where the promise holds, does not apply, is out of reach, or is not asked for by the profile; and where it
    is broken and a known failure.
    """
    if verdict.status is Status.VIOLATED:
        ends_well = not profile.asks_for(verdict.level) and verdict.rest not in FAILING
        return ends_well or verdict.known_failure is not None
    return not stale(verdict) and (verdict.status not in FAILING or not profile.asks_for(verdict.level))


def stale(verdict: Verdict) -> bool:
    """Whether it is listed as a known failure and does not fail; whether one that is out of reach does is not seen."""
    return verdict.known_failure is not None and verdict.status in (Status.HOLDS, Status.NOT_OFFERED)


def passes(verdicts: Collection[Verdict], profile: Profile) -> bool:
    """Whether the exit code may be 0: each verdict lets it, and of at least one promise something was seen."""
    seen = any(verdict.status in (Status.HOLDS, Status.VIOLATED) for verdict in verdicts)
    return seen and all(kept(verdict, profile) for verdict in verdicts)
