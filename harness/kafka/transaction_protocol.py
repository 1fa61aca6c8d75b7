"""The two transaction protocols as versions of requests, by which a broker distinguishes them.

A client of V1 adds partitions itself and keeps its epoch. For a client of V2 the broker adds them on Produce and
TxnOffsetCommit, and every EndTxn returns the epoch of the next transaction (KIP-890, Kafka's ``TransactionVersion``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionProtocol:
    """How the producers of one protocol speak.

    :param highest_versions: The highest version that a client sends, by API; of other APIs the highest offered.
    :param bumps_epoch: Whether EndTxn returns the next epoch, which fences every late request of the transaction
        before; partitions and offsets are then added by the broker.
    """

    name: Literal["v1", "v2"]
    highest_versions: Mapping[str, int]
    bumps_epoch: bool


V1 = TransactionProtocol(
    name="v1",
    highest_versions={
        "InitProducerId": 4,
        "AddPartitionsToTxn": 3,
        "AddOffsetsToTxn": 3,
        "Produce": 11,
        "TxnOffsetCommit": 4,
        "EndTxn": 4,
    },
    bumps_epoch=False,
)
"""Transactions V1: Kafka's ``TransactionManager`` up to 3.8."""

V2 = TransactionProtocol(
    name="v2",
    highest_versions={
        "InitProducerId": 5,
        "AddPartitionsToTxn": 3,  # 4 and above are sent between brokers only (KIP-890)
        "Produce": 12,  # 13 names topics by id (KIP-516) and changes nothing for transactions
        "TxnOffsetCommit": 5,
        "EndTxn": 5,
    },
    bumps_epoch=True,
)
"""Transactions V2: ``transaction.version`` 2, Kafka 4.0 and later."""
