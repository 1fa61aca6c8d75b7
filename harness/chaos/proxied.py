"""Faults of Toxiproxy on links and lanes: which proxy is drawn, and how much met the fault.

A link between brokers always carries replica fetches, one to the controller heartbeats and metadata; a lane carries
what the workload sends. The observer's lane has no proxy and can never be drawn. What met a fault is counted by the
proxy: bytes that came in from the connecting side while it was on, or connections that it ended.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import permutations
from random import Random
from typing import Literal, get_args

from harness.chaos.site import Powerless, Site
from harness.chaos.toxic import Proof, Shape
from harness.cluster.port import Direction, Links
from harness.cluster.topology import CONTROLLER, link_name

DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
Counted = Literal["bytes", "connections"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ailment:
    """One Toxiproxy toxic: its kind, the side that it is put on, and its numbers."""

    kind: str
    direction: Direction
    attributes: Mapping[str, int]


def draw_proxy(shape: Shape, draw: Random, *, controller: bool = True) -> str:
    """A lane of the workload, a link between two brokers, or one from a broker to the controller."""
    lanes = [f"lane-{lane}-{broker}" for lane in shape.lanes for broker in shape.brokers]
    links = [link_name(source, target) for source, target in permutations(shape.brokers, 2)]
    quorum = [link_name(broker, CONTROLLER) for broker in shape.brokers] if controller else []
    return draw.choice(draw.choice([kind for kind in (lanes, links, quorum) if kind]))


def known(site: Site, proxies: Sequence[str]) -> Sequence[str]:
    """The same proxies; :raises Powerless: when one of them is not there, as on a cluster that is not ours."""
    topology = site.cluster.topology
    there = {*topology.links.values(), *topology.lane_proxies.values()}
    if missing := [proxy for proxy in proxies if proxy not in there]:
        raise Powerless(f"no proxy stands at {', '.join(missing)}")
    return proxies


@contextmanager
def ailing(
    site: Site, proxies: Sequence[str], ailments: Sequence[Ailment], *, name: str, counted: Counted = "bytes"
) -> Iterator[Proof]:
    """Every proxy with these Toxiproxy toxics, in this order, for the length of the block.

    :raises Powerless: When a proxy is not there.
    """
    sides = " and ".join(dict.fromkeys(ailment.direction for ailment in ailments))
    proof = Proof(where=f"{', '.join(known(site, proxies))} ({sides})", how=HOW[counted])
    with ExitStack() as healing, _counting(site.links, proxies, counted, proof):
        for proxy in proxies:
            for index, ailment in enumerate(ailments):
                _add(site.links, proxy, ailment, f"{name}-{index}", healing)
        yield proof


@contextmanager
def severed(site: Site, proxies: Sequence[str]) -> Iterator[Proof]:
    """Every proxy's connections ended, new ones ended as soon as they come, for the length of the block.

    :raises Powerless: When a proxy is not there.
    """
    proof = Proof(where=", ".join(known(site, proxies)), how=HOW["connections"])
    with ExitStack() as healing, _counting(site.links, proxies, "connections", proof):
        for proxy in proxies:
            healing.callback(site.links.enable, proxy)
            site.links.disable(proxy)
        yield proof


def _add(links: Links, proxy: str, ailment: Ailment, name: str, healing: ExitStack) -> None:
    healing.callback(links.remove_toxic, proxy, name)
    links.add_toxic(proxy, kind=ailment.kind, direction=ailment.direction, attributes=ailment.attributes, name=name)


@contextmanager
def _counting(links: Links, proxies: Sequence[str], counted: Counted, proof: Proof) -> Iterator[None]:
    before = _Count.taken(links, proxies)
    try:
        yield
    finally:
        proof.struck = _Count.taken(links, proxies).since(before, counted)


HOW: Mapping[Counted, str] = {
    "bytes": "bytes of requests that came while it was on",
    "connections": "open connections that it ended",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Count:
    """What went through some proxies up to a moment."""

    received: int
    connections: frozenset[int]

    @classmethod
    def taken(cls, links: Links, proxies: Sequence[str]) -> "_Count":
        return cls(
            received=sum(map(links.traffic, proxies)),
            connections=frozenset().union(*map(links.connections, proxies)),
        )

    def since(self, before: "_Count", counted: Counted) -> int:
        if counted == "connections":
            return len(before.connections - self.connections)
        return max(0, self.received - before.received)
