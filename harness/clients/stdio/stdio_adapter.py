"""Clients of a library in any language as an adapter of chaos: ``java:4.3.1``, ``./my-adapter``."""

from dataclasses import dataclass

from harness.clients.client import Client, ClientOptions
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.clients.stdio.client_processes import RunningClients
from harness.clients.stdio.stdio_client import StdioClient
from harness.wire.offered import Offered


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioAdapter:
    """Fills the port :class:`harness.clients.client.Adapter`.

    :param processes: Where the clients' processes are kept.
    :param protocol: Not known of any library: a version chooses it by what the cluster offers.
    """

    command: AdapterCommand
    processes: RunningClients
    protocol: None = None

    @property
    def kind(self) -> str:
        return self.command.name

    def lacking(self, offered: Offered) -> str | None:  # noqa: ARG002
        """None: what a library needs of a broker shows when it is used."""
        return None

    def open(self, options: ClientOptions) -> Client:
        return StdioClient(options=options, command=self.command, processes=self.processes)
