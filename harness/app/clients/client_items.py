"""What pytest sees of one requirement file of clients: an item for each client."""

from collections.abc import Iterator
from typing import TypeAlias

import pytest

from harness.app.clients.clients_session import ClientsSession
from harness.app.requirement_items import LiveItem, Rank
from harness.contract import Verdict
from harness.contract.catalogue.requirement_catalogue import load

ClientRank: TypeAlias = tuple[bool, int, Rank]


class ClientRequirementFile(pytest.File):
    """A file that binds ``REQUIREMENT`` or ``REQUIREMENTS`` of clients."""

    def __init__(self, *, session_: ClientsSession, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]
        self.session_ = session_

    def collect(self) -> Iterator[pytest.Item]:
        for entry in load(self.path):
            for given in self.session_.options.clients:
                name = f"{entry.requirement.id} {given}"
                yield ClientItem.from_parent(
                    self, name=name, marker="live", entry=entry, session_=self.session_, given=given
                )


class ClientItem(LiveItem):
    """Live: the requirement on one client."""

    def __init__(self, *, given: str, **rest: object) -> None:
        super().__init__(**rest)
        self.given = given

    @property
    def client_rank(self) -> ClientRank:
        """Client by client on the common cluster; then each on those that its requirements ask for."""
        clients: ClientsSession = self.session_
        return self.requirement.cluster is not None, clients.options.clients.index(self.given), self.rank

    @property
    def client(self) -> str:
        clients: ClientsSession = self.session_
        return clients.candidates[self.given].name

    def examined(self) -> Verdict:
        clients: ClientsSession = self.session_
        return clients.examine(self.given, self.entry.requirement)
