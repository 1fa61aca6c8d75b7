"""Isolate from controller: one broker is cut off from the controller, both ways, and goes on with old metadata.

After its session of 2 s the controller fences it and moves its leaderships, while clients with old metadata still write
to it. Needs proxies. Counts connections that it ended, and says whether it was fenced.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.cluster.topology import CONTROLLERS
from harness.faults.brokers.leadership import await_recovery
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.proxy_faults import with_connections_cut
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerIsolation:
    """Fills :class:`harness.faults.toxic.Toxic`, and ``MinimumDuration``, so that a session can expire."""

    name: str = "isolate-from-controller"
    power: Power = Power.NETWORK
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LINKS,)
    disrupts_broker: bool = True
    seconds: float = 4.0

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``broker``."""
        return {"broker": draw.choice(shape.brokers)}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Cut off for the block; registered again afterwards.

        :raises Powerless: When there are no such proxies.
        :raises TimedOut: When the broker is not registered again within the bound.
        """
        broker = number(chosen, "broker")
        links = fault_target.cluster.topology.links.items()
        proxies = [proxy for ends, proxy in links if broker in ends and any(end in CONTROLLERS for end in ends)]
        if not proxies:
            raise Powerless("there is no proxy between brokers and the controller")
        with with_connections_cut(fault_target, proxies) as strikes:
            try:
                yield strikes
            finally:
                strikes.how += "; it was fenced" if fault_target.dropped(broker) else "; it was not fenced"
        await_recovery(fault_target, broker, strikes)


TOXIC = ControllerIsolation()
