"""What came of each failpoint, a line each in ``FOLDER/chaos.jsonl``, so that a later session goes on from there."""

from dataclasses import dataclass
from enum import StrEnum

from suites.model.failpoints.kept_lines import KeptLines
from suites.model.failpoints.known_failpoints import KnownFailpoint

KEPT = "chaos.jsonl"


class ChaosOutcome(StrEnum):
    """What a session came to while the rules were loaded."""

    FOUND = "found"
    FALSE_ALARM = "red, though no rule had an effect"
    NOT_FOUND = "not found"
    NOT_SHOWN = "no round could be judged"
    WITHOUT_EFFECT = "its case never came"
    NOT_ENTERED = "its code was never run"
    FAILED = "the rule itself failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosTrial:
    """A line.

    :param names: Of the rules. :param places: Class and method of each.
    :param refutes: Requirements with the anomaly that each must find.
    :param entered: Names of the rules whose place was come to.
    :param took_effect: Names of those whose case came about more often than was spared.
    :param rounds: The scenario of each round, with its conclusion.
    :param anomalies: Those of the round that was red.
    :param why: Where no round could be judged, or the rule failed.
    """

    key: str
    version: str
    names: tuple[str, ...]
    places: tuple[str, ...]
    refutes: tuple[tuple[str, str], ...]
    outcome: ChaosOutcome = ChaosOutcome.NOT_SHOWN
    entered: tuple[str, ...] = ()
    took_effect: tuple[str, ...] = ()
    rounds: tuple[tuple[str, str], ...] = ()
    anomalies: tuple[str, ...] = ()
    seconds: float = 0.0
    why: str = ""


def unplayed(failpoint: KnownFailpoint) -> ChaosTrial:
    """A line that says no more than which failpoint it is about."""
    return ChaosTrial(
        key=failpoint.key,
        version=failpoint.version,
        names=tuple(failpoint.names),
        places=tuple(failpoint.places),
        refutes=failpoint.refutes,
    )


class ChaosTrials(KeptLines[ChaosTrial]):
    """All lines of a folder."""

    FILE, KIND = KEPT, ChaosTrial
