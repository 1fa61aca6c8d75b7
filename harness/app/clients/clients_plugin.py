"""The contract of clients in pytest: registered by :mod:`harness.app.plugin`. Collects, selects and orders."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.app.clients.client_items import ClientItem, ClientRequirementFile
from harness.app.clients.clients_session import ClientsSession
from harness.app.requirement_items import keep_selected
from harness.base.paths import CLIENTS, ROOT
from harness.contract.catalogue.requirement_catalogue import find, requirement_row, states_requirement


@dataclass(slots=True, eq=False)
class ClientsPlugin:
    session: ClientsSession

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """A file of the clients' contract that binds ``REQUIREMENT``."""
        if file_path.suffix != ".py" or CLIENTS not in file_path.parents or not states_requirement(file_path):
            return None
        collected: ClientRequirementFile = ClientRequirementFile.from_parent(
            parent, path=file_path, session_=self.session
        )
        return collected

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Select, get the clients, and order: client by client."""
        catalogue = [requirement_row(entry, root=ROOT) for entry in find(CLIENTS)]
        rows = keep_selected(config, items, catalogue, self.session.options.select)
        self.session.get_clients()
        ours = sorted((item for item in items if isinstance(item, ClientItem)), key=lambda item: item.client_rank)
        items[:] = ours
        self.session.begin(
            catalogue, rows, list({item.requirement.id: item.entry.requirement for item in ours}.values())
        )

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """A client of which nothing could be tried is no success."""
        if exitstatus == pytest.ExitCode.OK and self.session.nothing_tried():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_report_teststatus(self, report: pytest.TestReport, config: pytest.Config) -> tuple[str, str, str] | None:
        """No letters among our progress lines."""
        quiet = report.when == "call" and config.option.capture == "no"
        return (report.outcome, "", "") if quiet else None
