"""The two transaction protocols as versions of requests, since it is by these that a broker tells them apart.

V1 adds partitions itself and keeps its epoch; V2 lets Produce and TxnOffsetCommit add them, and every EndTxn hands out
the next epoch (KIP-890, Kafka's ``TransactionVersion``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.wire.offered import Offered

_READING = {"Metadata": 12, "Fetch": 12, "ListOffsets": 8, "JoinGroup": 7, "OffsetFetch": 9}
"""Above these, topics go by id or questions change their meaning; nothing is promised there that we would miss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionProtocol:
    """How a client of one protocol speaks.

    :param caps: Highest version of each API; the highest that the broker offers otherwise.
    :param bumps: Whether EndTxn hands out the next epoch, which fences every late request of the transaction before.
    """

    kind: str
    caps: Mapping[str, int]
    bumps: bool

    def lacking(self, offered: Offered) -> str | None:
        """What a broker that advertises ``offered`` lacks for this protocol, in words; None when nothing."""
        if not self.bumps:
            return None
        for api, version in (("EndTxn", 5), ("Produce", 12), ("TxnOffsetCommit", 5)):
            if not offered.offers(api, version):
                return f"{self.kind} needs {api} {version}; the broker offers {offered.range_of(api)}"
        level = offered.finalized_features.get("transaction.version", 0)
        return None if level >= 2 else f"{self.kind} needs transaction.version 2; the cluster runs {level}"


V1 = TransactionProtocol(
    kind="wire-v1",
    bumps=False,
    caps={
        **_READING,
        "InitProducerId": 4,
        "AddPartitionsToTxn": 3,
        "AddOffsetsToTxn": 3,
        "Produce": 11,
        "TxnOffsetCommit": 4,
        "EndTxn": 4,
    },
)
V2 = TransactionProtocol(
    kind="wire-v2",
    bumps=True,
    caps={**_READING, "InitProducerId": 5, "Produce": 12, "TxnOffsetCommit": 5, "EndTxn": 5},
)
