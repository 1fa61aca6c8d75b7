"""Transactions that outlive their timeout, for which the coordinator looks from time to time (KIP-98)."""

from typing import Literal

from harness.base.addresses import Lane
from harness.lab.lab import Lab
from harness.lab.partition import Partition
from harness.lab.producer import Producer

CLEANUP = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
DEFAULT_CLEANUP_MS = 10_000
"""Kafka's, where the coordinator does not say (``TransactionLogConfig``)."""
TIMEOUT_MS = 2_000
"""Of a transaction that is to time out, and of the next ones in the same id, which must be over in that time."""
ROOM_SECONDS = 10.0
"""For a loaded machine."""


def cleanup_ms(lab: Lab, coordinator: int) -> int:
    """How often the coordinator looks for transactions that are overdue."""
    known = lab.admin.config(coordinator, CLEANUP) if lab.offered("DescribeConfigs", range(1, 5)) else None
    return int(known or DEFAULT_CLEANUP_MS)


def timed_out(
    lab: Lab, *partitions: Partition, protocol: Literal[1, 2], lane: Lane = "victim", as_: str = "timed out"
) -> Producer:
    """A producer that still has the epoch of a transaction which the coordinator has aborted for its timeout.

    It wrote a record to each partition. What the coordinator keeps of it afterwards is the step ``as_``.

    :raises Unprepared: When the machine was too slow to write in time.
    :raises TimedOut: When nobody aborts it.
    """
    txn = lab.producer(lane, protocol=protocol, timeout_ms=TIMEOUT_MS)
    for partition in partitions:
        txn.write(partition)
    overdue_ms = TIMEOUT_MS + cleanup_ms(lab, txn.coordinator)
    lab.completed(*partitions, timeout_seconds=overdue_ms / 1000 + ROOM_SECONDS)
    lab.reached(txn, "CompleteAbort", as_=as_)
    return txn
