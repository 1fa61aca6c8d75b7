"""Faults of Toxiproxy on links and lanes: which proxy is drawn, and how much passed while the fault was on.

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

from harness.cluster.cluster import Direction, Links
from harness.cluster.topology import CONTROLLER, link_name
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.toxic import ClusterShape, StrikeCount, ToxicReach

DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
Counted = Literal["bytes", "connections"]
HOW: Mapping[Counted, str] = {
    "bytes": "bytes of requests that came while it was on",
    "connections": "connections that it ended",
}
SAMPLE_SECONDS = 0.25
"""Seconds from count to count while a fault is on."""
DISCARDING = frozenset({"timeout", "limit_data"})
"""Kinds of Toxiproxy toxics that throw bytes away; what was asked on such a connection is never answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToxicSpec:
    """One Toxiproxy toxic: its kind, the direction that it is put on, and its attributes."""

    kind: str
    direction: Direction
    attributes: Mapping[str, int]


def draw_proxy(shape: ClusterShape, draw: Random, *, controller: bool = True) -> str:
    """A lane of the workload, a link between two brokers, or one from a broker to the controller; what is in reach."""
    lanes = [f"lane-{lane}-{broker}" for lane in shape.lanes for broker in shape.brokers]
    links = [link_name(source, target) for source, target in permutations(shape.brokers, 2)]
    quorum = [link_name(broker, CONTROLLER) for broker in shape.brokers] if controller else []
    lanes = lanes if ToxicReach.LANES in shape.reach else []
    links, quorum = (links, quorum) if ToxicReach.LINKS in shape.reach else ([], [])
    return draw.choice(draw.choice([kind for kind in (lanes, links, quorum) if kind]))


def _existing(fault_target: FaultTarget, proxies: Sequence[str]) -> str:
    """The proxies in words; :raises Powerless: when one of them is not there, as on a cluster that is not ours."""
    topology = fault_target.cluster.topology
    there = {*topology.links.values(), *topology.lane_proxies.values()}
    if missing := [proxy for proxy in proxies if proxy not in there]:
        raise Powerless(f"there is no proxy {', '.join(missing)}")
    return ", ".join(proxies)


@contextmanager
def with_toxics(
    fault_target: FaultTarget,
    proxies: Sequence[str],
    specs: Sequence[ToxicSpec],
    *,
    name: str,
    counted: Counted = "bytes",
) -> Iterator[StrikeCount]:
    """Every proxy with these Toxiproxy toxics, in this order, for the length of the block.

    Where bytes were thrown away, the proxy's connections end with the fault.

    :raises Powerless: When a proxy is not there.
    """
    directions = " and ".join(dict.fromkeys(spec.direction for spec in specs))
    strikes = StrikeCount(where=f"{_existing(fault_target, proxies)} ({directions})", how=HOW[counted])
    discarding = any(spec.kind in DISCARDING for spec in specs)
    with ExitStack() as healing, _counting(fault_target.links, proxies, counted, strikes):
        for proxy in proxies:
            if discarding:
                healing.callback(_end_connections, fault_target.links, proxy)
            for index, spec in enumerate(specs):
                _add(fault_target.links, proxy, spec, f"{name}-{index}", healing)
        yield strikes


@contextmanager
def with_connections_cut(fault_target: FaultTarget, proxies: Sequence[str]) -> Iterator[StrikeCount]:
    """Every proxy's connections ended, new ones ended as soon as they come, for the length of the block.

    :raises Powerless: When a proxy is not there.
    """
    strikes = StrikeCount(where=_existing(fault_target, proxies), how=HOW["connections"])
    with ExitStack() as healing, _counting(fault_target.links, proxies, "connections", strikes):
        for proxy in proxies:
            healing.callback(fault_target.links.enable, proxy)
            fault_target.links.disable(proxy)
        yield strikes


def _end_connections(links: Links, proxy: str) -> None:
    """Toxiproxy ends those that it knows when the toxic goes; one that comes just then would never be answered."""
    links.disable(proxy)
    links.enable(proxy)


def _add(links: Links, proxy: str, spec: ToxicSpec, name: str, healing: ExitStack) -> None:
    healing.callback(links.remove_toxic, proxy, name)
    links.add_toxic(proxy, kind=spec.kind, direction=spec.direction, attributes=spec.attributes, name=name)


@contextmanager
def _counting(links: Links, proxies: Sequence[str], counted: Counted, strikes: StrikeCount) -> Iterator[None]:
    """Update the count from time to time and at the end: connections come and go while a fault is on."""
    counter = _ProxyCounter(
        links=links,
        proxies=proxies,
        counted=counted,
        strikes=strikes,
        received_before=_received(links, proxies),
        seen=_open(links, proxies),
    )
    over = Event()

    def sample() -> None:
        while not over.wait(SAMPLE_SECONDS):
            with suppress(OSError, LookupError, ValueError):  # if it lasts, the last count raises it
                counter.count()

    sampler = Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield
    finally:
        over.set()
        sampler.join()
        counter.count()


@dataclass(slots=True, kw_only=True)
class _ProxyCounter:
    """Counts what some proxies received since a fault began, or which connections ended.

    :param seen: Connections that were open at some count.
    """

    links: Links
    proxies: Sequence[str]
    counted: Counted
    strikes: StrikeCount
    received_before: int
    seen: frozenset[int]

    def count(self) -> None:
        if self.counted == "bytes":
            received = _received(self.links, self.proxies) - self.received_before
            self.strikes.struck = max(self.strikes.struck, received)
        else:
            open_now = _open(self.links, self.proxies)
            self.seen |= open_now
            self.strikes.struck = len(self.seen - open_now)


def _received(links: Links, proxies: Sequence[str]) -> int:
    return sum(map(links.traffic, proxies))


def _open(links: Links, proxies: Sequence[str]) -> frozenset[int]:
    return frozenset().union(*map(links.connections, proxies))
