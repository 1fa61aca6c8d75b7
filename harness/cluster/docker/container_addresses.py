"""Addresses of a cluster in containers: a network of fourteen addresses a node, and one for clients.

A node's network holds that node and Toxiproxy and nothing else, and has no route out, so no node can go round a proxy.
A node resolves all other nodes' names to Toxiproxy's address on its own network, where each of them has its own port.
Clients connect through the ``edge`` network, whose ports the engine publishes on 127.0.0.1 alone, at free numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network
from itertools import permutations

from harness.base.addresses import LANES, Address, Lane
from harness.cluster.nodes.node_addresses import Listeners, listeners_of
from harness.cluster.nodes.node_ports import LANE_PORTS, TOXIPROXY
from harness.cluster.nodes.node_properties import name
from harness.cluster.topology import BROKERS, CONTROLLER, ExtraListener, lane_name, link_name
from harness.cluster.toxiproxy import Proxy

# Reserved for network benchmarks (RFC 2544), so no user's own network is there; a cluster takes one /24 of it.
BLOCKS = tuple(IPv4Network("198.18.0.0/15").subnets(new_prefix=24))
EDGE = 0
GATEWAY_HOST, TOXIPROXY_HOST, NODE_HOST = 1, 2, 3
FIRST_LINK, FIRST_LANE, FIRST_EXTRA = 23100, 23110, 23200
STEP = 20  # between the ports of two listeners; the number of a broker is lower


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerBlock:
    """The addresses of one cluster, and the ports at which its edge is published, by the port inside.

    :param extra: Listeners of every broker beside the lanes; clients reach them as they reach the observer's lane.
    """

    network: IPv4Network
    published: Mapping[int, int] = field(default_factory=dict)
    brokers: tuple[int, ...] = BROKERS
    extra: tuple[ExtraListener, ...] = ()
    controllers: tuple[int, ...] = (CONTROLLER,)

    @property
    def nodes(self) -> tuple[int, ...]:
        """The brokers and the controllers."""
        return (*self.brokers, *self.controllers)

    @property
    def extra_listeners(self) -> Mapping[str, Mapping[int, Address]]:
        """Where clients reach each broker on each listener beside the lanes."""
        return {
            listener.name: {broker: self.published_at(extra_port(index, broker)) for broker in self.brokers}
            for index, listener in enumerate(self.extra)
        }

    def network_of(self, node: int) -> IPv4Network:
        """A node's network, or the edge's."""
        return list(self.network.subnets(new_prefix=28))[node]

    def toxiproxy(self, node: int) -> str:
        """Toxiproxy's address on a node's network, or on the edge."""
        return str(self.network_of(node)[TOXIPROXY_HOST])

    def node(self, node: int, port: int) -> Address:
        """Where a node itself listens; reachable from this machine where the engine runs on it."""
        return Address(str(self.network_of(node)[NODE_HOST]), port)

    def gateway(self) -> str:
        """This machine's address on the edge network, at which Toxiproxy reaches what listens here."""
        return str(self.network_of(EDGE)[GATEWAY_HOST])

    def upstream_hosts(self) -> Mapping[str, str]:
        """The names by which Toxiproxy knows the nodes, to their addresses."""
        return {toxiproxy_name(node, 0).host: self.node(node, 0).host for node in self.nodes}

    def voter(self, controller: int) -> Address:
        return Address(name(controller), link_port(controller))

    def lane(self, lane: Lane, broker: int) -> Address:
        return self.published_at(lane_port(lane, broker))

    def api(self) -> Address:
        return self.published_at(TOXIPROXY)

    def published_at(self, port: int) -> Address:
        """Where a port of the edge network is published."""
        return Address("127.0.0.1", self.published[port])

    def hosts(self, node: int) -> Mapping[str, str]:
        """What a node resolves names to: those of the others to Toxiproxy, its own to itself."""
        others = {name(other): self.toxiproxy(node) for other in self.nodes if other != node}
        return {**others, name(node): self.node(node, 0).host}

    def listeners(self, broker: int) -> Listeners:
        listeners = listeners_of(self, broker, Address(name(broker), link_port(broker)), self.extra)
        bound = {each.name: self.node(broker, extra_port(index, broker)) for index, each in enumerate(self.extra)}
        return replace(listeners, bound={**listeners.bound, **bound})

    def proxies(self) -> list[Proxy]:
        """Every link and every way in; the observer's lane and extra listeners are not in the topology, so no toxic
        is ever put on them.

        Upstreams are names: while a container is down its name does not resolve and Toxiproxy knows that at once,
        whereas a connect to its address would keep the proxy from accepting anybody for as long as the system tries.
        """
        links = [
            Proxy(
                name=link_name(i, j),
                listen=Address(self.toxiproxy(i), link_port(j)),
                upstream=toxiproxy_name(j, link_port(j)),
            )
            for i, j in permutations(self.nodes, 2)
        ]
        lanes = [
            Proxy(
                name=lane_name(lane, k),
                listen=Address(self.toxiproxy(EDGE), lane_port(lane, k)),
                upstream=toxiproxy_name(k, LANE_PORTS[lane]),
            )
            for lane in LANES
            for k in self.brokers
        ]
        extra = [
            Proxy(
                name=f"listener-{listener.name.lower()}-{k}",
                listen=Address(self.toxiproxy(EDGE), extra_port(index, k)),
                upstream=toxiproxy_name(k, extra_port(index, k)),
            )
            for index, listener in enumerate(self.extra)
            for k in self.brokers
        ]
        return links + lanes + extra

    def edge_ports(self) -> list[int]:
        """Every port of the edge network that is published."""
        lanes = (lane_port(lane, broker) for lane in LANES for broker in self.brokers)
        extra = (extra_port(index, broker) for index in range(len(self.extra)) for broker in self.brokers)
        return [TOXIPROXY, *lanes, *extra]


def link_port(node: int) -> int:
    """Where other nodes reach a node: a port of its own, because all of them have Toxiproxy's address."""
    return FIRST_LINK + node


def lane_port(lane: Lane, broker: int) -> int:
    """Where Toxiproxy listens for a lane on the edge network."""
    return FIRST_LANE + 10 * LANES.index(lane) + broker


def extra_port(index: int, broker: int) -> int:
    """Where a broker listens on the listener of that index beside the lanes, and Toxiproxy for it on the edge."""
    return FIRST_EXTRA + STEP * index + broker


def toxiproxy_name(node: int, port: int) -> Address:
    """A node as Toxiproxy knows it; the name that other nodes use is Toxiproxy's own address."""
    return Address(f"node-{node}", port)
