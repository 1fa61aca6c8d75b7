"""The contract in pytest: registered by :mod:`harness.app.plugin`. Collects requirement files, selects and orders."""

import sys
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pytest

from harness.app.contract_session import ContractSession
from harness.app.planning import show_plan
from harness.app.requirement_items import ExaminedItem, Rank, RequirementFile, RequirementItem, keep_selected
from harness.base.paths import CONTRACT, ROOT
from harness.base.user_error import UserError
from harness.contract.catalogue.requirement_catalogue import find, requirement_row, states_requirement

COST_OF_OWN_CLUSTER = 4
"""A control that asks for a cluster of its own takes so many times as long as others, its start included."""


@dataclass(slots=True, eq=False)
class ContractPlugin:
    session: ContractSession

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """A file of the contract that binds ``REQUIREMENT`` is collected by us, also if its name is no test's."""
        ours = any(folder in file_path.parents for folder in self.session.folders)
        if file_path.suffix != ".py" or not ours or not states_requirement(file_path):
            return None
        collected: RequirementFile = RequirementFile.from_parent(parent, path=file_path, session_=self.session)
        return collected

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Select; items of other files first, in their own order; then the contract's items by their rank."""
        if not any(isinstance(item, RequirementItem) for item in items):
            return
        catalogue = [requirement_row(each, root=ROOT) for folder in self.session.folders for each in find(folder)]
        rows = keep_selected(config, items, catalogue, self.session.options.select)
        items.sort(key=_rank)
        if self.session.falsifying:
            take_part(config, items, *self.session.options.part)
        self.session.begin(catalogue, rows, [item.requirement for item in items if isinstance(item, ExaminedItem)])

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """A run in which nothing could be tried says nothing of its target, so it is no success."""
        if exitstatus == pytest.ExitCode.OK and self.session.nothing_tried():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """With ``--plan`` nothing is run: what would be done is printed instead."""
        options = self.session.options
        if not (options.plan and self.session.has_target):
            return None
        chosen = {row.id for row in self.session.rows}
        entries = [entry for entry in find(CONTRACT) if entry.requirement.id in chosen]
        try:
            show_plan(options.run, entries, sys.stdout)
        except UserError as error:
            options.run.progress(f"fencepost: {error}")
            pytest.exit(str(error), returncode=error.exit)
        return session.testscollected > 0

    def pytest_report_teststatus(self, report: pytest.TestReport, config: pytest.Config) -> tuple[str, str, str] | None:
        """No letters among our progress lines."""
        if self.session.has_target and report.when == "call" and config.option.capture == "no":
            return report.outcome, "", ""
        return None


def take_part(config: pytest.Config, items: list[pytest.Item], part: int, parts: int) -> None:
    """Neighbours stay together, because they use the same cluster; all parts take about the same time."""
    costs = [_cost(item) for item in items]
    starts = [end - cost for end, cost in zip(accumulate(costs), costs, strict=True)]
    mine = [start * parts // sum(costs) == part - 1 for start in starts]
    config.hook.pytest_deselected(items=[item for item, ours in zip(items, mine, strict=True) if not ours])
    items[:] = [item for item, ours in zip(items, mine, strict=True) if ours]


def _cost(item: pytest.Item) -> int:
    """Of a negative control, in those of the common cluster."""
    own = isinstance(item, RequirementItem) and item.requirement.cluster is not None
    return COST_OF_OWN_CLUSTER if own else 1


def _rank(item: pytest.Item) -> tuple[bool, Rank]:
    return (True, item.rank) if isinstance(item, RequirementItem) else (False, ("", "", False, 0, ""))
