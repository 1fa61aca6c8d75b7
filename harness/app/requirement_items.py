"""What pytest sees of one requirement file: its live item, its offline controls, its live negative controls.

From one file come, with no further lines anywhere: ``live``, ``accepts[0]``, ``refuses[unadded-produce-accepted]`` and
``falsify[kafka:3.5.2]``.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.app.contract_session import SESSION
from harness.contract import Requirement, Status, Unrefuted, Verdict, judge, kept
from harness.contract.refuters import LiveRefuter, describe
from harness.contract.requirement_catalogue import CatalogueEntry, load
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab
from harness.run import examine


class NotGreen(Exception):
    """A verdict that is not green; the text is what a person reads."""


class RequirementFile(pytest.File):
    """A file that binds ``REQUIREMENT``, or ``REQUIREMENTS``: the names of its items then begin with the id."""

    def collect(self) -> Iterator[pytest.Item]:
        """The items that this session can run."""
        entries = load(self.path)
        for entry in entries:
            prefix = f"{entry.requirement.id} " if len(entries) > 1 else ""
            falsifying = self.config.stash[SESSION].falsifying
            yield from self._falsify_items(entry, prefix) if falsifying else self._items(entry, prefix)

    def _items(self, entry: CatalogueEntry, prefix: str) -> Iterator[pytest.Item]:
        if self.config.stash[SESSION].has_target:
            yield LiveItem.from_parent(self, name=f"{prefix}live", entry=entry)
        for number, evidence in enumerate(entry.requirement.accepts):
            yield ControlItem.from_parent(self, name=f"{prefix}accepts[{number}]", entry=entry, evidence=evidence)
        for number, refusal in enumerate(entry.requirement.refuses):
            name = f"{prefix}refuses[{number}-{refusal.anomaly}]"
            yield ControlItem.from_parent(
                self, name=name, entry=entry, evidence=refusal.evidence, anomaly=refusal.anomaly
            )

    def _falsify_items(self, entry: CatalogueEntry, prefix: str) -> Iterator[pytest.Item]:
        for refuter in entry.requirement.refuted_by:
            if not isinstance(refuter, Unrefuted):
                name = f"{prefix}falsify[{describe(refuter)}]"
                yield FalsifyItem.from_parent(self, name=name, entry=entry, refuter=refuter)


class RequirementItem(pytest.Item):
    """An item that came from a requirement file."""

    def __init__(self, *, entry: CatalogueEntry, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.entry = entry

    @property
    def requirement(self) -> Requirement[Lab]:
        """The requirement that this item tries."""
        return self.entry.requirement

    def reportinfo(self) -> tuple[Path, int, str]:
        """File, line and title, as pytest shows them."""
        return self.path, 0, f"{self.requirement.id} {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:  # noqa: ARG002
        """A verdict reads as a sentence; anything else keeps its traceback."""
        return str(excinfo.value) if excinfo.errisinstance(NotGreen) else str(super().repr_failure(excinfo))


class ControlItem(RequirementItem):
    """Offline: the check on evidence that it must accept, or refuse with exactly one anomaly."""

    def __init__(self, *, evidence: Evidence, anomaly: str | None = None, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.evidence, self.anomaly = evidence, anomaly
        self.add_marker("control")

    def runtest(self) -> None:
        """Judge the doctored evidence."""
        verdict = judge(self.requirement, self.evidence)
        found = sorted({finding.anomaly for finding in verdict.findings})
        wanted = [self.anomaly] if self.anomaly else []
        status = Status.VIOLATED if self.anomaly else Status.HOLDS
        if verdict.status != status or found != wanted:
            raise NotGreen(f"expected {status} {wanted}, got {sentence(verdict)}")


class LiveItem(RequirementItem):
    """Live: the requirement on the session's target."""

    def __init__(self, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.verdict: Verdict | None = None
        self.add_marker("live")

    def runtest(self) -> None:
        """Examine the requirement; red unless it holds, does not apply, or is a known failure that still fails."""
        session = self.config.stash[SESSION]
        verdict = self.verdict = examine(session.run(), self.requirement)
        if verdict.status == Status.NOT_OFFERED:
            pytest.skip(f"NOT_OFFERED: {verdict.reason}")
        if not kept(verdict):
            stale = f"stale known failure ({verdict.known_failure}): " if verdict.known_failure else ""
            raise NotGreen(stale + sentence(verdict))
        if verdict.status != Status.HOLDS:
            pytest.xfail(verdict.known_failure or f"{verdict.level}: {sentence(verdict)}")


class FalsifyItem(RequirementItem):
    """Live: the requirement on a target that must break it, with the anomaly named."""

    def __init__(self, *, refuter: LiveRefuter, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.refuter = refuter
        self.verdict: Verdict | None = None
        self.add_marker("falsify")

    @property
    def version(self) -> str:
        """The release on which this control runs; the session groups by it."""
        return self.refuter.version

    def runtest(self) -> None:
        """Examine the requirement on the broken target; red unless VIOLATED with exactly the named anomaly among."""
        session = self.config.stash[SESSION]
        self.verdict = examine(session.falsifier(self.version), self.requirement, refuter=self.refuter)
        found = [finding.anomaly for finding in self.verdict.findings]
        if self.verdict.status != Status.VIOLATED or self.refuter.anomaly not in found:
            raise NotGreen(f"not refuted: expected VIOLATED with {self.refuter.anomaly}, got {sentence(self.verdict)}")


def sentence(verdict: Verdict) -> str:
    """The verdict with its findings, one a line."""
    lines = [f"{verdict.id} {verdict.status} ({verdict.witnesses} witnesses)"]
    lines += [f"  {finding.anomaly}: {finding.detail}" for finding in verdict.findings]
    if verdict.reason:
        lines.append(f"  because {verdict.reason}")
    return "\n".join(lines)
