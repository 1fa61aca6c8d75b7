"""The shape of a cluster as values: nodes, links between them, and lanes for clients.

Three brokers (1, 2, 3) and a dedicated KRaft controller (4). Every ordered pair of nodes has its own Toxiproxy proxy
(``link-1-2``), so one direction of one link can be held, cut or slowed. Clients reach each broker through separate
lanes: ``victim`` and ``rival`` are Toxiproxy proxies (``lane-victim-1``); ``observer`` never carries a toxic, so that
what the judge reads is never the fault.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import permutations

from harness.base.addresses import LANES, Address, Lane
from harness.wire.security.security import PLAINTEXT, Security

CONTROLLER = 4
BROKERS = (1, 2, 3)
NODES = (*BROKERS, CONTROLLER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Nodes, their addresses for clients, and the names of the proxies between them.

    :param brokers: Node ids of the brokers.
    :param controller: Node id of the dedicated controller, or None where it is not ours to reach.
    :param lanes: For each lane, the address of each broker on it.
    :param links: For each ordered pair (from, to) of nodes, the proxy's name; empty for an external cluster.
    :param lane_proxies: For each (lane, broker), the proxy's name; the observer's lane has none.
    :param security: How clients connect on every lane.
    :param server_names: For each broker the host that its certificate is for, which a proxy's address is not.
    """

    brokers: tuple[int, ...]
    controller: int | None
    lanes: Mapping[Lane, Mapping[int, Address]]
    links: Mapping[tuple[int, int], str] = field(default_factory=dict)
    lane_proxies: Mapping[tuple[Lane, int], str] = field(default_factory=dict)
    security: Security = PLAINTEXT
    server_names: Mapping[int, str] = field(default_factory=dict)

    def bootstrap(self, lane: Lane) -> str:
        """The lane's addresses as a client's ``bootstrap.servers``."""
        return ",".join(str(self.lanes[lane][broker]) for broker in self.brokers)


def owned_topology(lane: Callable[[Lane, int], Address]) -> Topology:
    """The topology of a cluster that we start; ``lane`` gives the address at which clients of a lane reach a broker."""
    return Topology(
        brokers=BROKERS,
        controller=CONTROLLER,
        lanes={name: {broker: lane(name, broker) for broker in BROKERS} for name in LANES},
        links={(source, target): link_name(source, target) for source, target in permutations(NODES, 2)},
        lane_proxies={
            (name, broker): lane_name(name, broker) for name in LANES if name != "observer" for broker in BROKERS
        },
    )


def link_name(source: int, target: int) -> str:
    """The proxy of the connections that ``source`` opens to ``target``."""
    return f"link-{source}-{target}"


def lane_name(lane: Lane, broker: int) -> str:
    """The proxy of the lane's connections to ``broker``."""
    return f"lane-{lane}-{broker}"
