"""Reasons that several requirements have in common, so that each is told once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.contract.verdict import Status
from harness.report.contract.results import RequirementResult
from harness.report.shared.words import count, first_line

TOLD_BY_REASON = (Status.UNDECIDED, Status.NOT_EXERCISED, Status.OUT_OF_REACH, Status.NOT_OFFERED)
"""The statuses that a reason explains, the worst first; of VIOLATED each finding is told."""


PARTICULARS = re.compile(r"(?<=\bbroker )\d+|\d+(?= tries\b)|[\w.-]*\bkip\d+-[\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedReason:
    """One reason on one line (of a crash what was raised) and the requirements that have it, in catalogue order.

    Reasons that differ only in a broker's number, a count of tries or a name that we drew are one, told without them.
    """

    status: str
    reason: str
    entries: tuple[RequirementResult, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The requirements' ids."""
        return tuple(entry.row.id for entry in self.entries)

    @property
    def number(self) -> str:
        """``8 requirements``."""
        return count(len(self.entries), "requirement", "requirements")


def shared_reasons(entries: Sequence[RequirementResult]) -> tuple[SharedReason, ...]:
    """Every reason of these statuses, also one that a single requirement has; the most frequent first of its status."""
    found: dict[tuple[str, str], list[RequirementResult]] = {}
    for entry in entries:
        if entry.verdict and entry.status in TOLD_BY_REASON:
            found.setdefault((entry.status, PARTICULARS.sub("…", _line(entry))), []).append(entry)
    reasons = [
        SharedReason(status=status, reason=_told(reason, shared), entries=tuple(shared))
        for (status, reason), shared in found.items()
    ]
    return tuple(sorted(reasons, key=lambda one: (TOLD_BY_REASON.index(Status(one.status)), -len(one.entries))))


def _told(alike: str, entries: Sequence[RequirementResult]) -> str:
    """As it is where all have the same one, else what they have in common."""
    lines = {_line(entry) for entry in entries}
    return lines.pop() if len(lines) == 1 else alike


def _line(entry: RequirementResult) -> str:
    return first_line(entry.verdict.reason or "") if entry.verdict else ""
