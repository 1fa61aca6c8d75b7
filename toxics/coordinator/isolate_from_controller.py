"""Isolate from controller: one broker is cut off from the controller, both ways, and goes on with what it knows.

After its session of 2 s the controller fences it and moves its leaderships away, while clients with old metadata still
write to it. Needs proxies. Proof that it struck: connections that it ended, and whether it was fenced.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from random import Random

from harness.chaos.drawn import number
from harness.chaos.leadership import taken_back
from harness.chaos.proxied import severed
from harness.chaos.site import Powerless, Site
from harness.chaos.toxic import Power, Proof, Shape
from harness.cluster.topology import CONTROLLER
from harness.history.evidence import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolatedFromController:
    """Fills :class:`harness.chaos.toxic.Toxic`, and ``Lengthy``, so that a session can expire."""

    name: str = "isolate-from-controller"
    power: Power = Power.NETWORK
    takes_a_broker: bool = True
    seconds: float = 4.0

    def draw(self, shape: Shape, draw: Random) -> Mapping[str, Json]:
        """``broker``."""
        return {"broker": draw.choice(shape.brokers)}

    def strike(self, site: Site, chosen: Mapping[str, Json]) -> AbstractContextManager[Proof]:
        """Cut off for the block; registered again afterwards.

        :raises Powerless: When there are no such proxies.
        :raises NotInTime: When the broker is not registered again within the bound.
        """
        return _struck(site, number(chosen, "broker"))


@contextmanager
def _struck(site: Site, broker: int) -> Iterator[Proof]:
    links = site.cluster.topology.links.items()
    proxies = [proxy for ends, proxy in links if set(ends) == {broker, CONTROLLER}]
    if not proxies:
        raise Powerless("no proxy stands between brokers and the controller")
    with severed(site, proxies) as proof:
        try:
            yield proof
        finally:
            proof.how += "; it was fenced" if site.dropped(broker) else "; it was not fenced"
    taken_back(site, broker, proof)


TOXIC = IsolatedFromController()
