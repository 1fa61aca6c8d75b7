"""One replica: a partition of the workload's data is left with its leader alone, and gets its replicas back afterwards.

As a reassignment of partitions does it (KIP-455): the others are given up, and later copied anew, while the workload
goes on. Needs only Kafka's own administration. Counts partitions whose leader was the only in-sync replica.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base import wait
from harness.base.json_value import Json
from harness.base.unprepared import Unprepared
from harness.faults.brokers.leadership import give_replicas_back
from harness.faults.drawn_partition import drawn_partition
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.kafka.leaders.moving import reassign
from harness.wire.topic_partitions import partition_name

ALONE_SECONDS = 10.0
"""Within which the leader must be the only in-sync replica."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneReplica:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "one-replica"
    power: Power = Power.LEADERSHIP
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LEADERS,)
    disrupts_broker: bool = False

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``topic`` (by the workload's name) and ``partition``."""
        topic = draw.choice(sorted(shape.topics))
        return {"topic": topic, "partition": draw.randrange(shape.topics[topic])}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """One replica for the length of the block.

        :raises Unprepared: When it has no leader, or the controller refuses.
        :raises TimedOut: When the leader is not the only in-sync replica within the bound.
        """
        place = drawn_partition(fault_target, chosen)
        name, before = partition_name(*place), fault_target.partition(*place)
        if before["leader"] < 0:
            raise Unprepared(f"{name} has no leader")
        alone = (before["leader"],)
        strikes = StrikeCount(where=name, how=f"partitions with one in-sync replica: {alone[0]}", moved=(name,))
        try:
            reassign(fault_target, *place, alone)
            wait.until(lambda: fault_target.in_sync(*place) == alone, what="one replica", timeout_seconds=ALONE_SECONDS)
            strikes.struck += 1
            yield strikes
        finally:
            give_replicas_back(fault_target, place, before["replicas"], strikes)


TOXIC = OneReplica()
