"""Where the nodes of a cluster listen, on whichever backend: what settings, readiness and agents need of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.base.addresses import LANES, Address, Lane
from harness.cluster.nodes.node_ports import LANE_PORTS
from harness.cluster.toxiproxy import Proxy


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Where a broker binds, and what it advertises, by the listener's name (``LINK``, ``VICTIM``, …)."""

    bound: Mapping[str, Address]
    advertised: Mapping[str, Address]


class NodeAddresses(Protocol):
    """The addresses of one cluster."""

    def node(self, node: int, port: int) -> Address:
        """Where a node itself listens, as seen by itself and from this machine."""

    def lane(self, lane: Lane, broker: int) -> Address:
        """Where clients of a lane reach a broker."""

    def listeners(self, broker: int) -> Listeners:
        """Where a broker binds, and what it advertises: its link's name to other nodes, a lane's address to clients."""

    def proxies(self) -> Sequence[Proxy]:
        """Every proxy of the cluster."""


def listeners_of(block: NodeAddresses, broker: int, link: Address) -> Listeners:
    """A broker's listeners: ``link`` for other nodes, which know it by its name, and one for each lane."""
    bound = {lane.upper(): block.node(broker, port) for lane, port in LANE_PORTS.items()}
    advertised = {lane.upper(): block.lane(lane, broker) for lane in LANES}
    return Listeners(bound={"LINK": block.node(broker, link.port), **bound}, advertised={"LINK": link, **advertised})
