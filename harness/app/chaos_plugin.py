"""Chaos in pytest: registered by :mod:`harness.app.plugin` when ``--chaos`` names a target.

Rounds are items, so that a CI server sees each with its JUnit properties and Allure labels; the budget ends the session
without a red or a skipped item, since a round that was not begun says nothing.
"""

import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.app.chaos_items import ChaosItem, ScenarioFile
from harness.app.chaos_session import CHAOS, SCENARIOS, ChaosSession
from harness.base.user_error import UserError
from harness.machine.download_cache import room_needed
from harness.report.chaos import conclude_session, not_offered_line, round_line
from harness.report.shared.allure import label_round
from harness.report.shared.junit import chaos_properties


@dataclass(slots=True)
class ChaosPlugin:
    """The hooks of one session."""

    session: ChaosSession
    total: int = 0
    told: int = 0

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """A scenario file is collected by us."""
        if file_path.parent != SCENARIOS or file_path.suffix != ".py" or file_path.stem == "__init__":
            return None
        collected: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
        return collected

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Rounds in their order, whatever file they came from; whatever is not a round stands before."""
        items.sort(key=lambda item: item.round_.folder.name if isinstance(item, ChaosItem) else "")
        self.total = sum(isinstance(item, ChaosItem) for item in items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """A round for which the budget does not reach is not begun."""
        return True if isinstance(item, ChaosItem) and not self.session.reaches(item.round_) else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """What Allure's reader gets of the round."""
        try:
            return (yield)
        finally:
            if isinstance(item, ChaosItem) and item.judgement is not None:
                label_round(item.judgement, item.round_.said())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A line for each round, and what CI servers read of it."""
        report = yield
        if isinstance(item, ChaosItem) and call.when == "call":
            self.told += 1
            if item.judgement is not None:
                item.user_properties.extend(chaos_properties(item.judgement, item.round_.said()))
            if item.round_ in self.session.ended:
                round_line(sys.stdout, item.round_.folder, number=self.told, of=self.total)
            if item.lacking:
                name = item.round_.scenario.name
                not_offered_line(sys.stdout, name, item.lacking, number=self.told, of=self.total)
            if report.failed and item.judgement is None:
                sys.stderr.write(f"{item.round_.folder.name}: {report.longrepr}\n")
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End everything and write the session's page, whatever happened before."""
        try:
            with room_needed():
                self.session.close()
        except UserError as error:
            sys.stderr.write(f"fencepost: {error}\n")
            session.exitstatus = error.exit
            return
        if self.session.ended:
            conclude_session(sys.stdout, self.session.wish.folder, self.session.folders, self.session.page)


def register(config: pytest.Config, chaos: ChaosSession) -> None:
    """Make the session's rounds known to pytest; reports for CI go into its folder."""
    config.stash[CHAOS] = chaos
    folder = chaos.wish.folder
    config.option.xmlpath = config.option.xmlpath or str(folder / "junit.xml")
    config.option.allure_report_dir = config.option.allure_report_dir or str(folder / "allure-results")
    config.pluginmanager.register(ChaosPlugin(chaos), "fencepost-chaos")
