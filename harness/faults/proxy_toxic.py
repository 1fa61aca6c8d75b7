"""A toxic that is one fault of Toxiproxy on one link or lane: its values, from which draw and strike follow."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.cluster.topology import CONTROLLERS
from harness.faults.brokers.leadership import await_recovery
from harness.faults.fault_target import FaultTarget
from harness.faults.proxy_faults import DIRECTIONS, Counted, ToxicSpec, draw_proxy, with_toxics
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number, text

BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToxicRange:
    """One of Toxiproxy's toxics; ``attributes`` gives each of its attributes a lowest and a highest value."""

    kind: str
    attributes: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyToxic:
    """Fills :class:`harness.faults.toxic.Toxic`.

    :param ranges: Put on the proxy one after the other; bytes go through them in this order.
    :param directions: Of these one is drawn: ``upstream`` (requests), ``downstream`` (responses), ``both``.
    :param controller: Whether links to the controller may be drawn.
    """

    name: str
    ranges: Sequence[ToxicRange]
    disrupts_broker: bool
    directions: Sequence[str] = (*DIRECTIONS, BOTH)
    controller: bool = True
    counted: Counted = "bytes"
    power: Power = Power.NETWORK
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LANES, ToxicReach.LINKS)

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``proxy``, ``direction``, and every attribute."""
        drawn: dict[str, Json] = {
            "proxy": draw_proxy(shape, draw, controller=self.controller),
            "direction": draw.choice(self.directions),
        }
        for toxic in self.ranges:
            drawn |= {attribute: draw.randint(*bounds) for attribute, bounds in toxic.attributes.items()}
        return drawn

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """On for the block; a broker whose link to the controller it was is waited for afterwards.

        :raises Powerless: When there is no such proxy.
        :raises TimedOut: When that broker is not registered again within the bound.
        """
        proxy, specs = text(chosen, "proxy"), list(self._specs(chosen))
        with with_toxics(fault_target, (proxy,), specs, name=self.name, counted=self.counted) as strikes:
            yield strikes
        if self.disrupts_broker and (broker := broker_of_controller_link(fault_target, proxy)) is not None:
            await_recovery(fault_target, broker, strikes)

    def _specs(self, chosen: Mapping[str, Json]) -> Iterator[ToxicSpec]:
        for direction in DIRECTIONS:
            if chosen["direction"] in (direction, BOTH):
                for toxic in self.ranges:
                    attributes = {attribute: number(chosen, attribute) for attribute in toxic.attributes}
                    yield ToxicSpec(kind=toxic.kind, direction=direction, attributes=attributes)


def broker_of_controller_link(fault_target: FaultTarget, proxy: str) -> int | None:
    """The broker that sends its heartbeats to the controller through this proxy."""
    links = fault_target.cluster.topology.links.items()
    return next((source for (source, target), name in links if name == proxy and target in CONTROLLERS), None)
