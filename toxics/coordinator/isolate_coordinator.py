"""Isolate coordinator: the broker that coordinates a transactional id is cut off from other brokers, or from clients.

From brokers: it cannot replicate its log, write markers or be asked for verification, while clients still reach it and
the controller still hears it. From clients: they cannot reach it, while the cluster sees nothing amiss. Needs proxies.
Proof that it struck: connections that it ended.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from random import Random

from harness.chaos.drawn import word
from harness.chaos.proxied import severed
from harness.chaos.site import Site
from harness.chaos.toxic import Power, Proof, Shape
from harness.cluster.topology import CONTROLLER
from harness.history.evidence import Json
from harness.lab.asking import Unprepared

BROKERS, CLIENTS = "brokers", "clients"


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolatedCoordinator:
    """Fills :class:`harness.chaos.toxic.Toxic`."""

    name: str = "isolate-coordinator"
    power: Power = Power.NETWORK
    takes_a_broker: bool = True

    def draw(self, shape: Shape, draw: Random) -> Mapping[str, Json]:
        """``transactional_id`` (in the workload's word), and ``from``: ``brokers`` or ``clients``."""
        return {"transactional_id": draw.choice(shape.transactional_ids), "from": draw.choice((BROKERS, CLIENTS))}

    def strike(self, site: Site, chosen: Mapping[str, Json]) -> AbstractContextManager[Proof]:
        """Cut off for the block.

        :raises Powerless: When there are no such proxies.
        :raises Unprepared: When the id has no coordinator now.
        """
        return _struck(site, word(chosen, "transactional_id"), word(chosen, "from"))


@contextmanager
def _struck(site: Site, transactional_id: str, cut_off_from: str) -> Iterator[Proof]:
    coordinator = site.coordinator(transactional_id)
    if coordinator is None:
        raise Unprepared(f"{transactional_id} has no coordinator")
    proxies = _links(site, coordinator) if cut_off_from == BROKERS else _lanes(site, coordinator)
    with severed(site, proxies) as proof:
        proof.where = f"broker-{coordinator}, which coordinates {transactional_id}, from {cut_off_from}: {proof.where}"
        yield proof


def _links(site: Site, broker: int) -> Sequence[str]:
    links = site.cluster.topology.links.items()
    return [proxy for ends, proxy in links if broker in ends and CONTROLLER not in ends]


def _lanes(site: Site, broker: int) -> Sequence[str]:
    return [proxy for (_, node), proxy in site.cluster.topology.lane_proxies.items() if node == broker]


TOXIC = IsolatedCoordinator()
