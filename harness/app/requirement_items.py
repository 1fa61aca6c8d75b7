"""What pytest sees of one requirement file: its live item, its offline controls, its live negative controls.

From one file come, with no further lines anywhere: ``live``, ``accepts[0]``, ``refuses[unadded-produce-accepted]`` and
``falsify[kafka:3.5.2]``.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import pytest

from harness.app.contract_session import ContractSession
from harness.app.judging_item import JudgingItem, NotGreen
from harness.base.paths import CLIENTS, ROOT
from harness.base.user_error import UserError
from harness.contract import Requirement, Status, Unrefuted, Verdict, judge, kept
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry, RequirementRow, load, requirement_row
from harness.contract.catalogue.selection import selected
from harness.contract.refuters import LiveRefuter, describe
from harness.contract.verdict import stale
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab
from harness.report.contract.results import shown_status
from harness.report.shared import allure, junit
from harness.report.shared.words import finding_words, title
from harness.run import publish

Rank: TypeAlias = tuple[str, str, bool, int, str]
"""Release, cluster, whether it is tried alone, order, id."""


class RequirementFile(pytest.File):
    """A file that binds ``REQUIREMENT``, or ``REQUIREMENTS``: the names of its items then begin with the id."""

    def __init__(self, *, session_: ContractSession, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.session_ = session_

    def collect(self) -> Iterator[pytest.Item]:
        entries = load(self.path)
        for entry in entries:
            prefix = f"{entry.requirement.id} " if len(entries) > 1 else ""
            yield from self._falsify_items(entry, prefix) if self.session_.falsifying else self._items(entry, prefix)

    def _items(self, entry: CatalogueEntry, prefix: str) -> Iterator[pytest.Item]:
        if self.session_.has_target:
            yield LiveItem.from_parent(self, name=f"{prefix}live", marker="live", entry=entry, session_=self.session_)
        for number, evidence in enumerate(entry.requirement.accepts):
            yield self._control(entry, f"{prefix}accepts[{number}]", evidence)
        for number, refusal in enumerate(entry.requirement.refuses):
            name = f"{prefix}refuses[{number}-{refusal.anomaly}]"
            yield self._control(entry, name, refusal.evidence, refusal.anomaly)

    def _control(self, entry: CatalogueEntry, name: str, evidence: Evidence, anomaly: str | None = None) -> pytest.Item:
        item: pytest.Item = ControlItem.from_parent(
            self, name=name, marker="control", entry=entry, evidence=evidence, anomaly=anomaly
        )
        return item

    def _falsify_items(self, entry: CatalogueEntry, prefix: str) -> Iterator[pytest.Item]:
        for refuter in entry.requirement.refuted_by:
            if not isinstance(refuter, Unrefuted):
                name = f"{prefix}falsify[{describe(refuter)}]"
                yield FalsifyItem.from_parent(
                    self, name=name, marker="falsify", entry=entry, session_=self.session_, refuter=refuter
                )


class RequirementItem(JudgingItem):
    """An item that came from a requirement file."""

    def __init__(self, *, entry: CatalogueEntry, **rest: object) -> None:
        super().__init__(title=entry.requirement.id, **rest)  # type: ignore[arg-type]
        self.entry = entry

    @property
    def requirement(self) -> Requirement[Lab]:
        """The requirement that this item tries."""
        return self.entry.requirement

    @property
    def rank(self) -> Rank:
        """Its sort key: by release, then by cluster (the common one first), by how much it disturbs, by id."""
        own, alone = self.requirement.cluster, not self.requirement.beside_others
        return "", "" if own is None else own.key, alone, self.requirement.order.value, self.requirement.id


class ControlItem(RequirementItem):
    """Offline: the check on evidence that it must accept, or refuse with exactly one anomaly."""

    def __init__(self, *, evidence: Evidence, anomaly: str | None, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.evidence, self.anomaly = evidence, anomaly

    def runtest(self) -> None:
        """Judge the doctored evidence."""
        verdict = judge(self.requirement, self.evidence)
        found = sorted({finding.anomaly for finding in verdict.findings})
        wanted = [self.anomaly] if self.anomaly else []
        status = Status.VIOLATED if self.anomaly else Status.HOLDS
        if verdict.status != status or found != wanted:
            raise NotGreen(f"expected {status} {wanted}, got {sentence(verdict)}")


class ExaminedItem(RequirementItem):
    """Live: an item that examines its requirement on a cluster."""

    def __init__(self, *, session_: Any, **rest: object) -> None:  # the contract's session, or the clients'
        super().__init__(**rest)  # type: ignore[arg-type]
        self.session_ = session_
        self.row = requirement_row(self.entry, root=ROOT)
        self.verdict: Verdict | None = None

    @property
    def client(self) -> str:
        """The client that is judged, where it is no broker."""
        return ""

    def label(self) -> None:
        if self.verdict is not None:
            allure.label(self.row, self.verdict, client=self.client)

    def print_outcome(self, report: pytest.TestReport, excinfo: pytest.ExceptionInfo[BaseException] | None) -> None:
        """Show the verdict as it is given; a stimulus that crashed is UNDECIDED, with its trace."""
        verdict = self.verdict or self._crashed(excinfo)
        profile = self.session_.options.profile
        self.user_properties.extend(junit.properties(self.row, verdict, profile, self.client))
        self.print_verdict(verdict, report)

    def print_verdict(self, verdict: Verdict, report: pytest.TestReport) -> None:  # noqa: ARG002
        self.session_.print_progress(self.row, verdict)

    def _crashed(self, excinfo: pytest.ExceptionInfo[BaseException] | None) -> Verdict:
        reason = str(excinfo.getrepr(style="short")) if excinfo else "no verdict was given"
        verdict = Verdict(id=self.requirement.id, level=self.requirement.level, status=Status.UNDECIDED, reason=reason)
        run = self.session_.current()
        return publish(run, verdict) if run is not None else verdict


class LiveItem(ExaminedItem):
    """Live: the requirement on the session's target."""

    def runtest(self) -> None:
        """Examine the requirement; red unless the verdict is one that lets the exit code be 0."""
        verdict = self.verdict = self.examined()
        profile = self.session_.options.profile
        if not kept(verdict, profile):
            old = f"stale known failure ({verdict.known_failure}): " if stale(verdict) else ""
            raise NotGreen(old + sentence(verdict))
        if verdict.status == Status.NOT_OFFERED:
            self.skip_not_offered(verdict.reason or "")
        if verdict.status == Status.OUT_OF_REACH:
            self.skip_out_of_reach(verdict.reason or "")
        if verdict.status != Status.HOLDS:
            shown = title(shown_status(verdict, profile))
            self.fail_as_expected(verdict.known_failure or f"{verdict.level}: {shown}: {sentence(verdict)}")

    def examined(self) -> Verdict:
        """Its verdict, from the session."""
        verdict: Verdict = self.session_.examine(self.requirement)
        return verdict


class FalsifyItem(ExaminedItem):
    """Live: the requirement on a target that must break it, with the anomaly named."""

    def __init__(self, *, refuter: LiveRefuter, **rest: object) -> None:
        super().__init__(**rest)
        self.refuter = refuter

    @property
    def rank(self) -> Rank:
        """By the release on which this control runs, so that one cluster is up at a time."""
        return self.refuter.version, *super().rank[1:]

    def runtest(self) -> None:
        """Examine the requirement on the broken target; red unless VIOLATED with exactly the named anomaly among."""
        requirement = self._on_its_client() if self.of_clients else self.requirement
        verdict = self.verdict = self.session_.refute(requirement, self.refuter)
        found = [finding.anomaly for finding in verdict.findings]
        if verdict.status != Status.VIOLATED or self.refuter.anomaly not in found:
            raise NotGreen(f"not refuted: expected VIOLATED with {self.refuter.anomaly}, got {sentence(verdict)}")

    @property
    def of_clients(self) -> bool:
        """Whether it is a promise of clients, which is tried on one."""
        return CLIENTS in self.path.parents

    def _on_its_client(self) -> Requirement[Lab]:
        """One that cannot be had proves nothing, and keeps no other control from being tried."""
        try:
            bound: Requirement[Lab] = self.session_.refuting.bound(self.requirement, self.refuter)
        except UserError as error:
            raise NotGreen(f"not tried: {error}") from None
        return bound

    def print_verdict(self, verdict: Verdict, report: pytest.TestReport) -> None:  # noqa: ARG002
        refuted, progress = "NOT REFUTED" if report.failed else "refuted", self.session_.options.run.progress
        progress(f"{self.row.id:<20}  {refuted} by {describe(self.refuter)}")
        if report.failed:
            progress(str(report.longrepr))
        else:
            self.session_.refuted += 1


def keep_selected(
    config: pytest.Config, items: list[pytest.Item], catalogue: Sequence[RequirementRow], select: str
) -> Sequence[RequirementRow]:
    """Deselect what ``select`` does not name, and everything else that is no requirement; the rows that are left.

    :raises UserError: When it names nothing of the catalogue.
    """
    if not select:
        return catalogue
    chosen = selected(select, catalogue)
    is_chosen = {item: isinstance(item, RequirementItem) and item.requirement.id in chosen for item in items}
    config.hook.pytest_deselected(items=[item for item in items if not is_chosen[item]])
    items[:] = [item for item in items if is_chosen[item]]
    return [row for row in catalogue if row.id in chosen]


def sentence(verdict: Verdict) -> str:
    """The verdict with its findings, one a line."""
    lines = [f"{verdict.id} {verdict.status} ({verdict.witnesses} witnesses)"]
    lines += [f"  {finding_words(finding)}" for finding in verdict.findings]
    if verdict.reason:
        lines.append(f"  because {verdict.reason}")
    return "\n".join(lines)
