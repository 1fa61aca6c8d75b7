"""A toxic that is one fault of Toxiproxy on one link or lane: its values, from which draw and strike follow."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from random import Random

from harness.chaos.drawn import number, word
from harness.chaos.leadership import taken_back
from harness.chaos.proxied import DIRECTIONS, Ailment, Counted, ailing, draw_proxy
from harness.chaos.site import Site
from harness.chaos.toxic import Power, Proof, Shape
from harness.cluster.topology import CONTROLLER
from harness.history.evidence import Json

BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One of Toxiproxy's toxics; ``measures`` gives each of its attributes a lowest and a highest value."""

    kind: str
    measures: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyToxic:
    """Fills :class:`harness.chaos.toxic.Toxic`.

    :param stages: Put on the proxy one after the other; bytes go through them in this order.
    :param sides: Of these one is drawn: ``upstream`` (requests), ``downstream`` (responses), ``both``.
    :param controller: Whether links to the controller may be drawn.
    """

    name: str
    stages: Sequence[Stage]
    takes_a_broker: bool
    sides: Sequence[str] = (*DIRECTIONS, BOTH)
    controller: bool = True
    counted: Counted = "bytes"
    power: Power = Power.NETWORK

    def draw(self, shape: Shape, draw: Random) -> Mapping[str, Json]:
        """``proxy``, ``side``, and every measure of every stage."""
        drawn: dict[str, Json] = {
            "proxy": draw_proxy(shape, draw, controller=self.controller),
            "side": draw.choice(self.sides),
        }
        for stage in self.stages:
            drawn |= {measure: draw.randint(*bounds) for measure, bounds in stage.measures.items()}
        return drawn

    def strike(self, site: Site, chosen: Mapping[str, Json]) -> AbstractContextManager[Proof]:
        """On for the block; a broker whose link to the controller it was is waited for afterwards.

        :raises Powerless: When there is no such proxy.
        :raises NotInTime: When that broker is not registered again within the bound.
        """
        return _struck(site, word(chosen, "proxy"), list(self._ailments(chosen)), self)

    def _ailments(self, chosen: Mapping[str, Json]) -> Iterator[Ailment]:
        for direction in DIRECTIONS:
            if chosen["side"] in (direction, BOTH):
                for stage in self.stages:
                    measured = {measure: number(chosen, measure) for measure in stage.measures}
                    yield Ailment(kind=stage.kind, direction=direction, attributes=measured)


@contextmanager
def _struck(site: Site, proxy: str, ailments: Sequence[Ailment], toxic: ProxyToxic) -> Iterator[Proof]:
    with ailing(site, (proxy,), ailments, name=toxic.name, counted=toxic.counted) as proof:
        yield proof
    if toxic.takes_a_broker and (broker := reports_over(site, proxy)) is not None:
        taken_back(site, broker, proof)


def reports_over(site: Site, proxy: str) -> int | None:
    """The broker that sends its heartbeats through this proxy."""
    links = site.cluster.topology.links.items()
    return next((source for (source, target), name in links if name == proxy and target == CONTROLLER), None)
