"""The adapters ``wire-v1`` and ``wire-v2``."""

from dataclasses import dataclass

from harness.clients.client import Client, ClientOptions
from harness.clients.wire.protocol_client import ProtocolClient
from harness.clients.wire.transaction_protocol import V1, V2, TransactionProtocol
from harness.wire.offered import Offered


@dataclass(frozen=True, slots=True)
class WireAdapter:
    """Makes wire clients of one protocol."""

    protocol: TransactionProtocol

    @property
    def kind(self) -> str:
        """``wire-v1`` or ``wire-v2``."""
        return self.protocol.kind

    def lacking(self, offered: Offered) -> str | None:
        """What the broker lacks for this protocol; None when nothing."""
        return self.protocol.lacking(offered)

    def open(self, options: ClientOptions) -> Client:
        """A client, not yet initialised; nothing is sent."""
        return ProtocolClient(options, self.protocol)


ADAPTERS = (WireAdapter(V2), WireAdapter(V1))
