"""Addresses of a cluster in containers: a network of fourteen addresses a node, and one for clients.

A node's network holds that node and Toxiproxy and nothing else, and leads nowhere, so there is no way round a proxy.
All other nodes' names lead a node to Toxiproxy's address on its own network; there each of them has a port of its own.
Clients come in by the ``edge``, whose ports the engine publishes on 127.0.0.1 alone, at numbers that it finds free.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from itertools import permutations

from harness.base.addresses import LANES, Address, Lane
from harness.cluster.nodes.node_ports import LANE_PORTS, NODES, TOXIPROXY
from harness.cluster.nodes.node_properties import Listeners, name
from harness.cluster.topology import BROKERS, CONTROLLER, Topology, lane_name, link_name
from harness.cluster.toxiproxy import Proxy

# Set aside for trials of networks (RFC 2544), so nobody's own network is there; one /24 of it a cluster.
BLOCKS = tuple(IPv4Network("198.18.0.0/15").subnets(new_prefix=24))
EDGE = 0
GATEWAY_AT, TOXIPROXY_AT, NODE_AT = 1, 2, 3
FIRST_LINK, FIRST_LANE = 23100, 23110


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerBlock:
    """The addresses of one cluster, and the ports at which its edge is published, by the port inside."""

    network: IPv4Network
    published: Mapping[int, int] = field(default_factory=dict)

    def of(self, node: int) -> IPv4Network:
        """A node's network, or the edge's."""
        return list(self.network.subnets(new_prefix=28))[node]

    def toxiproxy(self, node: int) -> str:
        """Toxiproxy's address on a node's network, or on the edge."""
        return str(self.of(node)[TOXIPROXY_AT])

    def node(self, node: int, port: int) -> Address:
        """Where a node itself listens; from this machine it can be reached where the engine's networks are its own."""
        return Address(str(self.of(node)[NODE_AT]), port)

    def gateway(self) -> str:
        """This machine's address on the edge, at which Toxiproxy reaches what listens here."""
        return str(self.of(EDGE)[GATEWAY_AT])

    def reached_at(self) -> Mapping[str, str]:
        """Nodes by the names that Toxiproxy has for them, to their addresses."""
        return {inside(node, 0).host: self.node(node, 0).host for node in NODES}

    def lane(self, lane: Lane, broker: int) -> Address:
        """Where clients of a lane reach a broker."""
        return self.outside(lane_port(lane, broker))

    def api(self) -> Address:
        """Toxiproxy's API."""
        return self.outside(TOXIPROXY)

    def outside(self, port: int) -> Address:
        """Where a port of the edge is published."""
        return Address("127.0.0.1", self.published[port])

    def hosts(self, node: int) -> Mapping[str, str]:
        """Names of the others, which lead to Toxiproxy; its own leads home."""
        others = {name(other): self.toxiproxy(node) for other in NODES if other != node}
        return {**others, name(node): self.node(node, 0).host}

    def listeners(self, broker: int) -> Listeners:
        """Where a broker binds, and what it tells: its link's name to other nodes, a lane's proxy to clients."""
        bound = {lane.upper(): self.node(broker, port) for lane, port in LANE_PORTS.items()}
        told = {lane.upper(): self.lane(lane, broker) for lane in LANES}
        own = link_port(broker)
        return Listeners(
            bound={"LINK": self.node(broker, own), **bound}, told={"LINK": Address(name(broker), own), **told}
        )

    def proxies(self) -> list[Proxy]:
        """Every link and every lane; nobody is told the names of the observer's, so nothing is ever put on them.

        Upstreams are names: while a container is down its name leads nowhere and Toxiproxy knows in a second, whereas
        connecting to its address would keep the proxy from accepting anybody for as long as the system tries.
        """
        links = [
            Proxy(
                name=link_name(i, j), listen=Address(self.toxiproxy(i), link_port(j)), upstream=inside(j, link_port(j))
            )
            for i, j in permutations(NODES, 2)
        ]
        lanes = [
            Proxy(
                name=lane_name(lane, k),
                listen=Address(self.toxiproxy(EDGE), lane_port(lane, k)),
                upstream=inside(k, LANE_PORTS[lane]),
            )
            for lane in LANES
            for k in BROKERS
        ]
        return links + lanes

    def topology(self) -> Topology:
        """Who is where, for everybody else."""
        return Topology(
            brokers=BROKERS,
            controller=CONTROLLER,
            lanes={lane: {k: self.lane(lane, k) for k in BROKERS} for lane in LANES},
            links={(i, j): link_name(i, j) for i, j in permutations(NODES, 2)},
            lane_proxies={(lane, k): lane_name(lane, k) for lane in LANES if lane != "observer" for k in BROKERS},
        )


def link_port(node: int) -> int:
    """Where other nodes reach a node: a port of its own, because all of them have Toxiproxy's address."""
    return FIRST_LINK + node


def lane_port(lane: Lane, broker: int) -> int:
    """Where Toxiproxy listens for a lane on the edge."""
    return FIRST_LANE + 10 * LANES.index(lane) + broker


def inside(node: int, port: int) -> Address:
    """A node as Toxiproxy knows it: not by the name that other nodes use, which leads to Toxiproxy itself."""
    return Address(f"node-{node}", port)


def edge_ports() -> list[int]:
    """Every port of the edge that is published."""
    return [TOXIPROXY, *(lane_port(lane, broker) for lane in LANES for broker in BROKERS)]
