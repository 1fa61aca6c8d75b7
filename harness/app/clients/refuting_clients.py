"""The clients of live negative controls: one that breaks the promise, or the sound one on brokers that do."""

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.base.user_error import UserError
from harness.clients.stdio.adapter_name import adapter_command
from harness.clients.stdio.lying_adapter import lying
from harness.contract import LyingClient, OtherClient, Requirement
from harness.contract.refuters import SOUND_CLIENT, LiveRefuter
from harness.lab import Lab
from harness.lab.clients.bound import bound
from harness.lab.clients.client_lab import ClientLab
from harness.lab.clients.client_under_test import ClientUnderTest, asked_for_its_name


@dataclass(slots=True)
class RefutingClients:
    """Each is installed and asked for its name once; ``had`` are those, by name and lie, or why they cannot be had."""

    progress: Callable[[str], None]
    had: dict[tuple[str, str], ClientUnderTest | UserError] = field(default_factory=dict)

    def bound(self, requirement: Requirement[ClientLab], refuter: LiveRefuter) -> Requirement[Lab]:
        """The requirement on the client with which it is tried; :raises UserError: when that cannot be had."""
        match refuter:
            case OtherClient(client=name):
                wanted = (name, "")
            case LyingClient(client=name, lie=lie):
                wanted = (name, lie)
            case _:
                wanted = (SOUND_CLIENT, "")
        if wanted not in self.had:
            self.had[wanted] = self._got(*wanted)
        found = self.had[wanted]
        if isinstance(found, UserError):
            raise found
        return bound(requirement, found)

    def _got(self, name: str, lie: str) -> ClientUnderTest | UserError:
        try:
            command = adapter_command(name, self.progress)
            return asked_for_its_name(lying(command, lie) if lie else command)
        except UserError as error:
            return error
