"""Move leader: a partition of the workload's data is led by another broker, and by the first one again afterwards.

Needs only Kafka's own administration. Counts leaders that moved, by brokers' metadata.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.faults.brokers.leadership import RANKS, leader_moved
from harness.faults.drawn_partition import drawn_partition
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderMove:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "move-leader"
    power: Power = Power.LEADERSHIP
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LEADERS,)
    disrupts_broker: bool = False

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``topic`` (by the workload's name), ``partition``, ``rank`` among the replicas that could lead it."""
        topic = draw.choice(sorted(shape.topics))
        return {"topic": topic, "partition": draw.randrange(shape.topics[topic]), "rank": draw.randrange(RANKS)}

    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> AbstractContextManager[StrikeCount]:
        """Led elsewhere for the block.

        :raises Unprepared, NotInTime: See :func:`harness.faults.brokers.leadership.leader_moved`.
        """
        return leader_moved(fault_target, *drawn_partition(fault_target, chosen), number(chosen, "rank"))


TOXIC = LeaderMove()
