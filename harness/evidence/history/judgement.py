"""The judgement of a chaos history: a result for each check, and its findings with the rows that show them.

Plain values, written as ``judgement.json`` beside the history, so that a report needs no Spark.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.json_value import Json
from harness.evidence.status import Status, worst

SHOWN = 20
"""Findings of one anomaly that a check keeps; the rest are only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingContext:
    """The operations, faults and log records around a finding, as plain rows of the history's tables."""

    operations: tuple[Mapping[str, Json], ...] = ()
    faults: tuple[Mapping[str, Json], ...] = ()
    log: tuple[Mapping[str, Json], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFinding:
    """A broken promise in a history; :class:`harness.contract.expect.Finding` is one in the evidence of a requirement.

    :param anomaly: A name of :data:`harness.evidence.history.anomalies.ANOMALIES`.
    :param detail: One sentence with the numbers.
    :param view: The reader that delivered it; ``log`` for the committed log; empty where no view is concerned.
    :param lasted_ms: For ``stuck-lso``: for how long the last stable offset has been stuck.
    :param operations: Numbers of the operations that show it.
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
    """The result of one check.

    :param name: Kebab-case, such as ``views-agree-with-the-log``.
    :param witnesses: How many situations it examined; with none, and no findings, it is NOT_EXERCISED.
    :param counts: How many findings of each anomaly there are in all; ``findings`` keeps at most SHOWN of each.
    :param undecided: Why the evidence is ambiguous; empty where it is not.
    :param reason: Why nothing was examined; empty where something was.
    :param seconds: How long the check took.
    :param required: Whether the round shows nothing where this was not exercised.
    """

    name: str
    statement: str
    witnesses: int
    counts: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[HistoryFinding, ...] = ()
    undecided: str = ""
    reason: str = ""
    seconds: float = 0.0
    required: bool = False

    @property
    def status(self) -> Status:
        """VIOLATED with findings, else UNDECIDED with doubts, else by whether anything was examined."""
        if self.counts:
            return Status.VIOLATED
        if self.undecided:
            return Status.UNDECIDED
        return Status.HOLDS if self.witnesses else Status.NOT_EXERCISED


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The results of all checks of one history; ``notes`` are what limits them (torn lines, missing tables)."""

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
        """The worst of the checks that were exercised; NOT_EXERCISED when none was, or one that is required was not."""
        found = worst([check.status for check in self.checks])
        return Status.NOT_EXERCISED if found is Status.HOLDS and self.lacking else found

    @property
    def lacking(self) -> str:
        """Why a check that is required was not exercised; empty where each was."""
        unmet = (check for check in self.checks if check.required and check.status is Status.NOT_EXERCISED)
        return "; ".join(check.reason for check in unmet)
