"""Move replicas: another broker copies a partition from nothing, leads it, and the one that led gives it up.

As a reassignment of partitions does it (KIP-455): one replica is dropped, so that its log is deleted; then it comes
back as the first, and the old leader is dropped. The new leader has rebuilt what it knows of producers and
transactions from records that it fetched. Strikes data, and the log of a coordinator. Needs only Kafka's own
administration. Counts partitions that were led by a fresh replica with the old leader gone.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base import wait
from harness.base.json_value import Json
from harness.base.unprepared import Unprepared
from harness.faults.brokers.leadership import COPIED_SECONDS, give_replicas_back
from harness.faults.drawn_partition import drawn_partition
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import text
from harness.kafka.leaders.moving import reassign
from harness.wire.topic_partitions import TopicPartition, partition_name

DROPPED_SECONDS = 10.0
"""Within which the replica must be out of sync for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaMove:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "move-replicas"
    power: Power = Power.LEADERSHIP
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LEADERS,)
    disrupts_broker: bool = False

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``topic`` (by the workload's name) and ``partition``, or the ``transactional_id`` whose coordinator it is."""
        if draw.random() < 0.5:
            return {"transactional_id": draw.choice(shape.transactional_ids)}
        topic = draw.choice(sorted(shape.topics))
        return {"topic": topic, "partition": draw.randrange(shape.topics[topic])}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Led by the fresh replica for the length of the block.

        :raises Unprepared: When it has no leader or too few replicas, or the controller refuses.
        :raises TimedOut: When the replica is not dropped, or does not lead, within the bound.
        """
        place = _place(fault_target, chosen)
        before = fault_target.partition(*place)
        leader, others = before["leader"], [node for node in before["replicas"] if node != before["leader"]]
        if leader < 0 or len(others) < 2:
            raise Unprepared(f"{partition_name(*place)} has no leader, or too few replicas to drop one")
        fresh, stays = others[0], others[1:]
        name = partition_name(*place)
        how = "partitions led by a fresh replica, the old leader gone"
        strikes = StrikeCount(where=name, how=how, moved=(name,))
        try:
            _await_replicas(fault_target, place, (leader, *stays), DROPPED_SECONDS)
            _await_replicas(fault_target, place, (fresh, *stays), COPIED_SECONDS)
            wait.until(lambda: fault_target.leader(*place) == fresh, what="its lead", timeout_seconds=COPIED_SECONDS)
            strikes.struck += 1
            strikes.how += f": {leader} → {fresh}"
            yield strikes
        finally:
            give_replicas_back(fault_target, place, before["replicas"], strikes)


def _place(fault_target: FaultTarget, chosen: Mapping[str, Json]) -> TopicPartition:
    if "transactional_id" in chosen:
        return fault_target.state_partition(text(chosen, "transactional_id"))
    return drawn_partition(fault_target, chosen)


def _await_replicas(
    fault_target: FaultTarget, place: TopicPartition, order: tuple[int, ...], timeout_seconds: float
) -> None:
    """Ask for these replicas, and wait until they alone are there and in sync, as a fresh one is when it has copied."""
    reassign(fault_target, *place, order)

    def there() -> bool:
        now = fault_target.partition(*place)
        return sorted(now["replicas"]) == sorted(now["isr"]) == sorted(order)

    wait.until(there, what=f"replicas {order} of {partition_name(*place)}", timeout_seconds=timeout_seconds)


TOXIC = ReplicaMove()
