"""The client that is judged: how it is started, and what its library calls itself."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.base.user_error import ExitCode, UserError
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.clients.stdio.adapter_options import AdapterOptions
from harness.clients.stdio.adapter_process import AdapterFailed, start_adapter
from harness.contract import Ability, Library, Need
from harness.evidence.client_evidence import WITHOUT, AbilityName

START_SECONDS = 30.0
NOBODY = "127.0.0.1:9"
"""Where no broker is (the discard port); a client that is only asked for its name connects to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientUnderTest:
    """One client at one version.

    :param library: As the library names itself: ``franz-go``.
    :param version: Likewise: ``1.22.2``.
    :param lacks: What it says that it cannot do.
    """

    command: AdapterCommand
    library: str
    version: str
    lacks: frozenset[AbilityName] = frozenset()

    @property
    def name(self) -> str:
        """As users name it: ``franz-go:1.22.2``, ``./my-adapter``."""
        return self.command.name

    def lacking(self, needs: Iterable[Need]) -> str | None:
        """Why a promise is not this library's, as a sentence; None when it is."""
        return next((why for need in needs if (why := self._lack(need))), None)

    def _lack(self, need: Need) -> str | None:
        match need:
            case Library() if not need.holds(self.library, self.version):
                return f"a promise of {need}, not of {self.library} {self.version}"
            case Ability(name=name) if name in self.lacks:
                return f"{self.library} says that it has no {name}: it {WITHOUT[name]}"
        return None


def asked_for_its_name(command: AdapterCommand) -> ClientUnderTest:
    """Start the client, ask for its library and version, and end it.

    :raises UserError: when it is no adapter.
    """
    try:
        adapter = start_adapter(command.command, name=command.name)
        try:
            options = AdapterOptions(bootstrap=[NOBODY], client_id="name")
            answer = adapter.call("open", within_seconds=START_SECONDS, **options.arguments())
        finally:
            adapter.kill()
    except AdapterFailed as failed:
        raise UserError(f"{failed}\ntry: fencepost client {command.name} --check", exit=ExitCode.USAGE) from None
    return ClientUnderTest(command=command, library=answer.library, version=answer.version, lacks=answer.lacks)
