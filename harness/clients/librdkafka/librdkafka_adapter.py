"""The adapter ``librdkafka``."""

from dataclasses import dataclass
from typing import Literal

from harness.clients.client import Client, ClientOptions
from harness.clients.librdkafka.librdkafka_client import LibrdkafkaClient
from harness.wire.offered import Offered


@dataclass(frozen=True, slots=True)
class LibrdkafkaAdapter:
    kind: str = "librdkafka"
    protocol: Literal["v1", "v2"] = "v1"

    def lacking(self, offered: Offered) -> str | None:
        """What the broker lacks: Transactions V1 are in every Kafka since 0.11, so only a missing API counts."""
        return None if offered.offers("EndTxn", 1) else f"librdkafka needs EndTxn 1; {offered.range_of('EndTxn')}"

    def open(self, options: ClientOptions) -> Client:
        return LibrdkafkaClient(options, self.kind, self.protocol)


ADAPTER = LibrdkafkaAdapter()
