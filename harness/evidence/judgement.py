"""What a judge says of a chaos history: a result a check, its findings with all that shows them. Plain values.

Written as ``judgement.json`` beside the history, so that a report needs no Spark.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.json_value import Json
from harness.evidence.status import Status, worst

SHOWN = 20
"""Findings of one anomaly that are kept whole; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingContext:
    """What stands around a finding, as plain rows of the history's tables."""

    operations: tuple[Mapping[str, Json], ...] = ()
    faults: tuple[Mapping[str, Json], ...] = ()
    log: tuple[Mapping[str, Json], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFinding:
    """One finding.

    :param anomaly: A name of :data:`harness.evidence.anomalies.ANOMALIES`.
    :param detail: One sentence with the numbers.
    :param view: The reader that showed it; ``log`` for the log itself; empty where no view is concerned.
    :param operations: Numbers of the operations that show it.
    :param lasted_ms: For ``stuck-lso``: how long it has been so.
    """

    anomaly: str
    detail: str
    view: str = ""
    txn: int | None = None
    actor: str | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    producer_id: int | None = None
    epoch: int | None = None
    lasted_ms: float | None = None
    operations: tuple[int, ...] = ()
    around: FindingContext = field(default_factory=FindingContext)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check's result.

    :param name: Kebab-case, such as ``views-agree-with-the-log``.
    :param witnesses: Situations really examined; without any and without findings nothing was exercised.
    :param counts: How many findings of each anomaly there are in all; ``findings`` keeps at most SHOWN of each.
    :param undecided: Why the evidence is ambiguous, where it is.
    :param reason: Why nothing was examined, where nothing was.
    """

    name: str
    statement: str
    witnesses: int
    counts: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[HistoryFinding, ...] = ()
    undecided: str = ""
    reason: str = ""
    seconds: float = 0.0

    @property
    def status(self) -> Status:
        """Findings weigh more than doubt, doubt more than having examined nothing."""
        if self.counts:
            return Status.VIOLATED
        if self.undecided:
            return Status.UNDECIDED
        return Status.HOLDS if self.witnesses else Status.NOT_EXERCISED


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """All checks of one history, and what about it limits what they can say (torn lines, tables that are missing)."""

    checks: tuple[CheckResult, ...]
    notes: tuple[str, ...] = ()

    @property
    def anomalies(self) -> Mapping[str, int]:
        """How many findings of each anomaly, over all checks."""
        counted: dict[str, int] = {}
        for check in self.checks:
            for anomaly, count in check.counts.items():
                counted[anomaly] = counted.get(anomaly, 0) + count
        return counted

    @property
    def status(self) -> Status:
        """The worst of the checks that were exercised; NOT_EXERCISED when none was."""
        return worst([check.status for check in self.checks])
