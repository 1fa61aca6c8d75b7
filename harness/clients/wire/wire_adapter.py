"""The adapters ``wire-v2`` and ``wire-v1``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from harness.clients.client import Adapter, Client, ClientOptions
from harness.clients.wire.protocol_client import ProtocolClient
from harness.kafka.transaction_protocol import V1, V2, TransactionProtocol
from harness.wire.offered import Offered


@dataclass(frozen=True, slots=True)
class WireAdapter:
    transactions: TransactionProtocol

    @property
    def kind(self) -> str:
        return f"wire-{self.protocol}"

    @property
    def protocol(self) -> Literal["v1", "v2"]:
        return self.transactions.name

    def lacking(self, offered: Offered) -> str | None:
        """What the broker lacks for this protocol, in words; None when nothing. Transactions V1 are in every Kafka."""
        if not self.transactions.bumps_epoch:
            return None
        for api in ("EndTxn", "Produce", "TxnOffsetCommit"):
            version = self.transactions.highest_versions[api]
            if not offered.offers(api, version):
                return f"{self.kind} needs {api} {version}; the broker offers {offered.range_of(api)}"
        level = offered.finalized_features.get("transaction.version", 0)
        return None if level >= 2 else f"{self.kind} needs transaction.version 2; the cluster runs {level}"

    def open(self, options: ClientOptions) -> Client:
        return ProtocolClient.of(options, self.transactions)


ADAPTERS: Mapping[str, Adapter] = {adapter.kind: adapter for adapter in (WireAdapter(V2), WireAdapter(V1))}
"""By name; the only clients in Fencepost's own process."""
