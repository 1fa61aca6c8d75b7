"""A toxic that is one fault of Toxiproxy on one link or lane: its values, from which draw and strike follow."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.cluster.topology import CONTROLLER
from harness.faults.fault_target import FaultTarget
from harness.faults.leadership import await_recovery
from harness.faults.proxy_faults import DIRECTIONS, Counted, ToxicSpec, draw_proxy, with_toxics
from harness.faults.toxic import ClusterShape, Power, StrikeCount
from harness.faults.typed_draws import number, word

BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToxicRange:
    """One of Toxiproxy's toxics; ``measures`` gives each of its attributes a lowest and a highest value."""

    kind: str
    measures: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyToxic:
    """Fills :class:`harness.faults.toxic.Toxic`.

    :param stages: Put on the proxy one after the other; bytes go through them in this order.
    :param sides: Of these one is drawn: ``upstream`` (requests), ``downstream`` (responses), ``both``.
    :param controller: Whether links to the controller may be drawn.
    """

    name: str
    stages: Sequence[ToxicRange]
    disrupts_broker: bool
    sides: Sequence[str] = (*DIRECTIONS, BOTH)
    controller: bool = True
    counted: Counted = "bytes"
    power: Power = Power.NETWORK

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``proxy``, ``side``, and every measure of every stage."""
        drawn: dict[str, Json] = {
            "proxy": draw_proxy(shape, draw, controller=self.controller),
            "side": draw.choice(self.sides),
        }
        for round_context in self.stages:
            drawn |= {measure: draw.randint(*bounds) for measure, bounds in round_context.measures.items()}
        return drawn

    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> AbstractContextManager[StrikeCount]:
        """On for the block; a broker whose link to the controller it was is waited for afterwards.

        :raises Powerless: When there is no such proxy.
        :raises NotInTime: When that broker is not registered again within the bound.
        """
        return _struck(fault_target, word(chosen, "proxy"), list(self._ailments(chosen)), self)

    def _ailments(self, chosen: Mapping[str, Json]) -> Iterator[ToxicSpec]:
        for direction in DIRECTIONS:
            if chosen["side"] in (direction, BOTH):
                for round_context in self.stages:
                    measured = {measure: number(chosen, measure) for measure in round_context.measures}
                    yield ToxicSpec(kind=round_context.kind, direction=direction, attributes=measured)


@contextmanager
def _struck(
    fault_target: FaultTarget, proxy: str, specs: Sequence[ToxicSpec], toxic: ProxyToxic
) -> Iterator[StrikeCount]:
    with with_toxics(fault_target, (proxy,), specs, name=toxic.name, counted=toxic.counted) as strikes:
        yield strikes
    if toxic.disrupts_broker and (broker := reports_over(fault_target, proxy)) is not None:
        await_recovery(fault_target, broker, strikes)


def reports_over(fault_target: FaultTarget, proxy: str) -> int | None:
    """The broker that sends its heartbeats through this proxy."""
    links = fault_target.cluster.topology.links.items()
    return next((source for (source, target), name in links if name == proxy and target == CONTROLLER), None)
