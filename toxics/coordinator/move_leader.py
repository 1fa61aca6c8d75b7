"""Move leader: a partition of the workload's data is led by another broker, and by the first one again afterwards.

Needs nothing but Kafka's own administration. Proof that it struck: leaders that brokers' metadata saw move.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.faults.fault_target import FaultTarget
from harness.faults.leadership import RANKS, leader_moved
from harness.faults.toxic import ClusterShape, Power, StrikeCount
from harness.faults.typed_draws import number, word


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedLeader:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "move-leader"
    power: Power = Power.LEADERSHIP
    disrupts_broker: bool = False

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``topic`` (in the workload's word), ``partition``, ``rank`` among the replicas that could lead it."""
        topic = draw.choice(sorted(shape.topics))
        return {"topic": topic, "partition": draw.randrange(shape.topics[topic]), "rank": draw.randrange(RANKS)}

    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> AbstractContextManager[StrikeCount]:
        """Led elsewhere for the block.

        :raises Unprepared, NotInTime: See :func:`harness.faults.leadership.led_elsewhere`.
        """
        topic = word(chosen, "topic")
        return leader_moved(
            fault_target, fault_target.topics.get(topic, topic), number(chosen, "partition"), number(chosen, "rank")
        )


TOXIC = MovedLeader()
