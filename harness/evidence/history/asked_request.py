"""What a client that keeps to no rule asks: one request, whoever may send it and in whatever state."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

AskedApi: TypeAlias = Literal["InitProducerId", "AddPartitionsToTxn", "Produce", "EndTxn", "DescribeTransactions"]
ASKED_APIS: tuple[AskedApi, ...] = get_args(AskedApi)
TOO_LONG_MS = 2**31 - 1
"""The longest timeout that a request can name; brokers allow ``transaction.max.timeout.ms``, 15 minutes by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRequest:
    """A request with the identity that it claims; -1 is no producer id, and no epoch.

    :param transactional_id: Another one than the client's own; empty for that.
    :param topic: Where ``AddPartitionsToTxn`` and ``Produce`` go, with ``partition``.
    :param sequence: Of the one record of ``Produce``. :param transactional: Whether its batch says that it is part of a
        transaction. :param too_large: Whether it is larger than its topic allows (``max.message.bytes``).
    :param missing: Whether ``partition`` is none of the topic's. :param commit: Of ``EndTxn``.
    :param too_long: Of ``InitProducerId``: whether its timeout is longer than any broker allows.
    :param elsewhere: Of ``DescribeTransactions``: whether a broker is asked that is not the coordinator.
    """

    api: AskedApi
    transactional_id: str = ""
    producer_id: int = -1
    epoch: int = -1
    topic: str = ""
    partition: int = 0
    sequence: int = 0
    transactional: bool = True
    too_large: bool = False
    commit: bool = False
    missing: bool = False
    elsewhere: bool = False
    too_long: bool = False

    def __post_init__(self) -> None:
        """:raises ValueError: For a request that cannot be made."""
        if self.api not in ASKED_APIS:
            raise ValueError(f"nobody asks {self.api}")
        if self.api in ("AddPartitionsToTxn", "Produce") and not self.topic:
            raise ValueError(f"{self.api} without a partition")
