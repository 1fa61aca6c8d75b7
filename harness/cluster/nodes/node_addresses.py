"""Where the nodes of a cluster listen, on whichever backend: what settings, readiness and agents need of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.base.addresses import LANES, Address, Lane
from harness.cluster.nodes.node_ports import LANE_PORTS
from harness.cluster.topology import ExtraListener
from harness.cluster.toxiproxy import Proxy


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Where a broker binds, and what it advertises, by the listener's name (``LINK``, ``VICTIM``, …).

    :param extra: Those beside the link and the lanes, which are plaintext.
    """

    bound: Mapping[str, Address]
    advertised: Mapping[str, Address]
    extra: Sequence[ExtraListener] = ()


class NodeAddresses(Protocol):
    """The addresses of one cluster."""

    @property
    def brokers(self) -> Sequence[int]:
        """Node ids of its brokers."""

    @property
    def controllers(self) -> Sequence[int]:
        """Node ids of its controllers, the voters of the metadata quorum."""

    @property
    def extra_listeners(self) -> Mapping[str, Mapping[int, Address]]:
        """For each listener beside the lanes, the address of each broker on it."""

    def node(self, node: int, port: int) -> Address:
        """Where a node itself listens, as seen by itself and from this machine."""

    def voter(self, controller: int) -> Address:
        """The name and port at which every other node reaches a controller, and at which it binds."""

    def lane(self, lane: Lane, broker: int) -> Address:
        """Where clients of a lane reach a broker."""

    def listeners(self, broker: int) -> Listeners:
        """Where a broker binds, and what it advertises: its link's name to other nodes, a lane's address to clients."""

    def proxies(self) -> Sequence[Proxy]:
        """Every proxy of the cluster."""


def listeners_of(block: NodeAddresses, broker: int, link: Address, extra: Sequence[ExtraListener] = ()) -> Listeners:
    """A broker's listeners: ``link`` for other nodes, which know it by its name, one for each lane, and the extra."""
    beside = {name: at[broker] for name, at in block.extra_listeners.items()}
    told = {
        listener.name: Address(beside[listener.name].host, listener.advertised_port)
        for listener in extra
        if listener.advertised_port is not None
    }
    bound = {lane.upper(): block.node(broker, port) for lane, port in LANE_PORTS.items()}
    advertised = {lane.upper(): block.lane(lane, broker) for lane in LANES}
    return Listeners(
        bound={"LINK": block.node(broker, link.port), **bound, **beside},
        advertised={"LINK": link, **advertised, **beside, **told},
        extra=extra,
    )
