"""Move leader: a partition of the workload's data is led by another broker, and by the first one again afterwards.

Needs nothing but Kafka's own administration. Proof that it struck: leaders that brokers' metadata saw move.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from random import Random

from harness.chaos.drawn import number, word
from harness.chaos.leadership import RANKS, led_elsewhere
from harness.chaos.site import Site
from harness.chaos.toxic import Power, Proof, Shape
from harness.history.evidence import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedLeader:
    """Fills :class:`harness.chaos.toxic.Toxic`."""

    name: str = "move-leader"
    power: Power = Power.LEADERSHIP
    takes_a_broker: bool = False

    def draw(self, shape: Shape, draw: Random) -> Mapping[str, Json]:
        """``topic`` (in the workload's word), ``partition``, ``rank`` among the replicas that could lead it."""
        topic = draw.choice(sorted(shape.topics))
        return {"topic": topic, "partition": draw.randrange(shape.topics[topic]), "rank": draw.randrange(RANKS)}

    def strike(self, site: Site, chosen: Mapping[str, Json]) -> AbstractContextManager[Proof]:
        """Led elsewhere for the block.

        :raises Unprepared, NotInTime: See :func:`harness.chaos.leadership.led_elsewhere`.
        """
        topic = word(chosen, "topic")
        return led_elsewhere(site, site.topics.get(topic, topic), number(chosen, "partition"), number(chosen, "rank"))


TOXIC = MovedLeader()
