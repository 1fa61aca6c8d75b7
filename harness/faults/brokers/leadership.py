"""A partition led by another of its in-sync replicas for the length of a block (:mod:`harness.kafka.leaders.moving`).

On leaving, the old order of replicas is put back and its first replica elected.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harness.base import wait
from harness.base.unprepared import Unprepared
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import StrikeCount
from harness.kafka.leaders.moving import elect_preferred, move, reassign
from harness.wire.topic_partitions import TopicPartition, partition_name

RANKS = 2
"""Replicas that could lead a partition besides the one that does, in a cluster of three."""
LEADER_SECONDS = 30.0
"""Within which a partition must have a leader after the fault."""
COPIED_SECONDS = 30.0
"""Within which a replica should be in sync that begins with nothing."""


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
    name = partition_name(topic, partition)
    strikes = StrikeCount(where=name, how="leaders moved", moved=(name,))
    wanted = others[rank % len(others)]
    try:
        move(fault_target, topic, partition, [wanted, *(node for node in before["replicas"] if node != wanted)])
        strikes.struck += 1
        strikes.how += f": {before['leader']} → {wanted}"
        yield strikes
    finally:
        _put_back(fault_target, topic, partition, before["replicas"], strikes)


def give_replicas_back(
    fault_target: FaultTarget, place: TopicPartition, replicas: Sequence[int], strikes: StrikeCount
) -> None:
    """A partition's replicas as they were before; that they are not in sync again in time is only noted.

    :raises Unprepared: When the controller refuses.
    """
    reassign(fault_target, *place, replicas)
    if wait.elapsed_ms_until(fault_target.replicated, timeout_seconds=COPIED_SECONDS) is None:
        strikes.how += "; the others were not in sync again in time"


def await_recovery(fault_target: FaultTarget, broker: int, strikes: StrikeCount) -> None:
    """Wait for a broker that was away, then have every partition led by its first replica again.

    :raises TimedOut: When the broker is not registered and unfenced within the bound. That its replicas do not catch
        up within theirs is only noted: settling is a step of the run.
    """
    fault_target.await_registered(broker)
    try:
        elect_preferred(fault_target)
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
