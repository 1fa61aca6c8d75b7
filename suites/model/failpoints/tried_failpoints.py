"""What came of each failpoint: a file with a line for each, so that a later session goes on where one ended."""

from dataclasses import dataclass
from enum import StrEnum

from harness.explore.cell_results import Difference
from suites.model.failpoints.kept_lines import KeptLines
from suites.model.failpoints.known_failpoints import KnownFailpoint

TRIED = "failpoints.jsonl"


class FailpointOutcome(StrEnum):
    """What the grid came to while the rules were loaded."""

    CAUGHT = "caught"
    LASTS = "caught, and its brokers differ without it from then on"
    LOST = "brokers stopped answering"
    NOT_CAUGHT = "not caught"
    NOT_ENTERED = "its code was never run"
    OF_A_TOOL = "no broker runs it"
    FAILED = "the rule itself failed"


SEEN = (FailpointOutcome.CAUGHT, FailpointOutcome.LASTS, FailpointOutcome.LOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedFailpoint:
    """A line.

    :param names: Of the rules. :param places: Class and method of each.
    :param refutes: Requirements with the anomaly that each must find.
    :param entered: Names of the rules whose place was come to. :param cells: That were compared.
    :param differing: How many of these differ, and agree once the rules are out again; where none does, all of them.
    :param request: Of the first that differs, after the shortest path; :param state: the row; :param differences: it.
    :param why: Where brokers stopped answering, or the rule failed.
    """

    key: str
    version: str
    names: tuple[str, ...]
    places: tuple[str, ...]
    refutes: tuple[tuple[str, str], ...]
    outcome: FailpointOutcome
    entered: tuple[str, ...] = ()
    cells: int = 0
    differing: int = 0
    seconds: float = 0.0
    request: str = ""
    state: str = ""
    differences: tuple[Difference, ...] = ()
    why: str = ""

    @property
    def is_seen(self) -> bool:
        """Whether the grid tells this Kafka from a sound one."""
        return self.outcome in SEEN


def tried(failpoint: KnownFailpoint, outcome: FailpointOutcome) -> TriedFailpoint:
    """A line that says no more than which failpoint it is about."""
    return TriedFailpoint(
        key=failpoint.key,
        version=failpoint.version,
        names=tuple(failpoint.names),
        places=tuple(failpoint.places),
        refutes=failpoint.refutes,
        outcome=outcome,
    )


class TriedFailpoints(KeptLines[TriedFailpoint]):
    """``FOLDER/failpoints.jsonl``."""

    FILE, KIND = TRIED, TriedFailpoint
