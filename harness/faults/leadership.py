"""A partition led by another of its in-sync replicas for the length of a block, by Kafka's own administration.

The replicas are put into another order (AlterPartitionReassignments, KIP-455; the same replicas, so nothing is copied)
and the first is elected (ElectLeaders, KIP-460). On leaving, the old order is put back and its first replica elected.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harness.base import wait
from harness.base.kafka_error import KafkaError, error_name
from harness.base.unprepared import Unprepared
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import StrikeCount
from harness.wire.requests.cluster.alter_partition_reassignments import AlterPartitionReassignments
from harness.wire.requests.cluster.elect_leaders import ElectLeaders

RANKS = 2
"""Replicas that could lead a partition besides the one that does, in a cluster of three."""
ELECTED_SECONDS = 10.0
"""Within which brokers must know of a leader that the controller has elected."""
IN_SYNC_SECONDS = 15.0
"""That replicas get to be in sync before the preferred leaders are elected."""
LEADER_SECONDS = 30.0
"""Within which a partition must have a leader after the fault."""
ELECTED = (KafkaError.NONE, KafkaError.ELECTION_NOT_NEEDED)
"""Answers to ElectLeaders after which the wanted replica leads."""


@contextmanager
def leader_moved(fault_target: FaultTarget, topic: str, partition: int, rank: int) -> Iterator[StrikeCount]:
    """The ``rank``-th (modulo their number) of the in-sync replicas that do not lead leads for the length of the block.

    :raises Unprepared: When no other replica is in sync, or the controller refuses.
    :raises TimedOut: When brokers do not get to know the new leader, or the partition is left without one.
    """
    before = fault_target.partition(topic, partition)
    others = sorted(node for node in before["isr"] if node != before["leader"])
    if not others:
        raise Unprepared(f"no other replica of {topic}-{partition} is in sync")
    strikes = StrikeCount(where=f"{topic}-{partition}", how="leaders moved")
    wanted = others[rank % len(others)]
    try:
        move(fault_target, topic, partition, [wanted, *(node for node in before["replicas"] if node != wanted)])
        strikes.struck += 1
        strikes.how += f": {before['leader']} → {wanted}"
        yield strikes
    finally:
        _put_back(fault_target, topic, partition, before["replicas"], strikes)


def move(fault_target: FaultTarget, topic: str, partition: int, order: Sequence[int]) -> None:
    """Put the replicas into this order and elect the first; returns when brokers know it as the leader.

    :raises Unprepared: When the controller refuses.
    :raises TimedOut: When brokers do not get to know it.
    """
    altered = fault_target.to_controller(AlterPartitionReassignments(replicas={(topic, partition): tuple(order)}))
    if altered.error:
        raise Unprepared(f"AlterPartitionReassignments answered {error_name(altered.error)} ({altered.error})")
    elected = fault_target.to_controller(ElectLeaders(partitions=((topic, partition),)))
    if elected.error not in ELECTED:
        raise Unprepared(f"ElectLeaders answered {error_name(elected.error)} ({elected.error})")
    wait.until(
        lambda: fault_target.leader(topic, partition) == order[0],
        what=f"broker {order[0]} as leader of {topic}-{partition}",
        timeout_seconds=ELECTED_SECONDS,
    )


def await_recovery(fault_target: FaultTarget, broker: int, strikes: StrikeCount) -> None:
    """Wait for a broker that was away, then have every partition led by its first replica again.

    Kafka does the second by itself every five minutes (``auto.leader.rebalance.enable``). Until then a broker that came
    back leads nothing, coordinates nothing, and links to it carry nothing for the next fault to meet.

    :raises TimedOut: When the broker is not registered and unfenced within the bound. That its replicas do not catch
        up within theirs is only noted: settling is a step of the run.
    """
    fault_target.await_registered(broker)
    try:
        wait.until(fault_target.replicated, what="full ISR", timeout_seconds=IN_SYNC_SECONDS, interval_seconds=0.05)
        error = fault_target.to_controller(ElectLeaders(partitions=None)).error
        strikes.how += "" if error in ELECTED else f"; no election: {error_name(error)} ({error})"
    except (Unprepared, wait.TimedOut) as late:
        strikes.how += f"; no election: {late}"


def _put_back(
    fault_target: FaultTarget, topic: str, partition: int, order: Sequence[int], strikes: StrikeCount
) -> None:
    """The old order again; its first replica may be away, then another goes on leading."""
    try:
        move(fault_target, topic, partition, order)
    except (Unprepared, wait.TimedOut) as refused:
        strikes.how += f"; not moved back: {refused}"
    wait.until(
        lambda: fault_target.leader(topic, partition) is not None,
        what=f"a leader of {strikes.where}",
        timeout_seconds=LEADER_SECONDS,
    )
