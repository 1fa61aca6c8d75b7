"""Faults of Toxiproxy on links and lanes: which proxy is drawn, and how much met the fault.

A link between brokers always carries replica fetches, one to the controller heartbeats and metadata; a lane carries
what the workload sends. The observer's lane has no proxy and can never be drawn. What met a fault is counted by the
proxy: bytes that came in from the connecting side while it was on, or connections that it ended.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import permutations
from random import Random
from threading import Event, Thread
from typing import Literal, get_args

from harness.chaos.site import Powerless, Site
from harness.chaos.toxic import Proof, Shape
from harness.cluster.port import Direction, Links
from harness.cluster.topology import CONTROLLER, link_name

DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
Counted = Literal["bytes", "connections"]
SAMPLED = 0.25
"""Seconds from count to count while a fault is on."""
SWALLOWING = frozenset({"timeout", "limit_data"})
"""Kinds of Toxiproxy toxics that throw bytes away; what was asked on such a connection is never answered."""


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

    Where bytes were thrown away, the proxy's connections end with the fault.

    :raises Powerless: When a proxy is not there.
    """
    sides = " and ".join(dict.fromkeys(ailment.direction for ailment in ailments))
    proof = Proof(where=f"{', '.join(known(site, proxies))} ({sides})", how=HOW[counted])
    swallowing = any(ailment.kind in SWALLOWING for ailment in ailments)
    with ExitStack() as healing, _counting(site.links, proxies, counted, proof):
        for proxy in proxies:
            if swallowing:
                healing.callback(_end_connections, site.links, proxy)
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


def _end_connections(links: Links, proxy: str) -> None:
    """Toxiproxy ends those that it knows when the toxic goes; one that comes at that moment would wait for good."""
    links.disable(proxy)
    links.enable(proxy)


def _add(links: Links, proxy: str, ailment: Ailment, name: str, healing: ExitStack) -> None:
    healing.callback(links.remove_toxic, proxy, name)
    links.add_toxic(proxy, kind=ailment.kind, direction=ailment.direction, attributes=ailment.attributes, name=name)


@contextmanager
def _counting(links: Links, proxies: Sequence[str], counted: Counted, proof: Proof) -> Iterator[None]:
    """Fill the proof from time to time and at the end: connections come and go while a fault is on."""
    tally = _Tally.begun(links, proxies, counted, proof)
    over = Event()

    def sample() -> None:
        while not over.wait(SAMPLED):
            with suppress(OSError, LookupError, ValueError):  # the last count tells what is wrong
                tally.count()

    sampler = Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield
    finally:
        over.set()
        sampler.join()
        tally.count()


HOW: Mapping[Counted, str] = {
    "bytes": "bytes of requests that came while it was on",
    "connections": "connections that it ended",
}


@dataclass(slots=True, kw_only=True)
class _Tally:
    """What some proxies had received when a fault began, and the connections seen on them since."""

    links: Links
    proxies: Sequence[str]
    counted: Counted
    proof: Proof
    received: int
    seen: frozenset[int]

    @classmethod
    def begun(cls, links: Links, proxies: Sequence[str], counted: Counted, proof: Proof) -> "_Tally":
        received, seen = _received(links, proxies), _open(links, proxies)
        return cls(links=links, proxies=proxies, counted=counted, proof=proof, received=received, seen=seen)

    def count(self) -> None:
        if self.counted == "bytes":
            self.proof.struck = max(self.proof.struck, _received(self.links, self.proxies) - self.received)
        else:
            now = _open(self.links, self.proxies)
            self.seen |= now
            self.proof.struck = len(self.seen - now)


def _received(links: Links, proxies: Sequence[str]) -> int:
    return sum(map(links.traffic, proxies))


def _open(links: Links, proxies: Sequence[str]) -> frozenset[int]:
    return frozenset().union(*map(links.connections, proxies))
