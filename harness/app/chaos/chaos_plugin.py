"""Chaos in pytest: registered by :mod:`harness.app.plugin` when rounds are asked for.

Rounds are items, so that a CI server sees each with its JUnit properties and Allure labels; the budget ends the session
without a red or a skipped item, since a round that was not begun proves nothing.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.app.chaos.chaos_items import ChaosItem, ScenarioFile
from harness.app.chaos.chaos_session import ChaosSession
from harness.base.paths import SCENARIOS


@dataclass(slots=True, eq=False)
class ChaosPlugin:
    session: ChaosSession

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if file_path.parent != SCENARIOS or file_path.suffix != ".py" or file_path.stem == "__init__":
            return None
        collected: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path, session_=self.session)
        return collected

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Rounds in their order, across files; items that are no rounds come before."""
        items.sort(key=lambda item: item.round_.folder.name if isinstance(item, ChaosItem) else "")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Skipped rounds are no failure, but where nothing else was there nothing was shown."""
        if exitstatus == pytest.ExitCode.OK and session.items and not self.session.judged:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """A round for which the budget does not reach is not begun."""
        return True if isinstance(item, ChaosItem) and not self.session.reaches(item.round_) else None
