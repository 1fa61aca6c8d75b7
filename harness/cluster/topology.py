"""The shape of a cluster as values: nodes, links between them, and lanes for clients.

Three brokers (1, 2, 3), or as many as are asked for, and a dedicated KRaft controller (4), or three of
them (4, 11, 12). Every ordered pair of nodes
has its own Toxiproxy proxy (``link-1-2``), so one direction of one link can be held, cut or slowed. Clients reach each
broker through separate lanes: ``victim`` and ``rival`` are Toxiproxy proxies (``lane-victim-1``); ``observer`` never
carries a toxic, so that what the judge reads is never the fault.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count as count_from
from itertools import islice, permutations

from harness.base.addresses import LANES, Address, Lane
from harness.wire.security.security import PLAINTEXT, Security

CONTROLLER = 4
CONTROLLERS = (CONTROLLER, 11, 12)
"""Of a quorum of three; however many brokers there are, none has these numbers."""
MOST_BROKERS = 9  # what the addresses of a loopback block have room for
BROKERS = (1, 2, 3)
NODES = (*BROKERS, CONTROLLER)


def brokers_of(count: int) -> tuple[int, ...]:
    """Node ids of so many brokers, without the controller's: 1, 2, 3, 5, 6 of five.

    >>> brokers_of(5)
    (1, 2, 3, 5, 6)
    """
    return tuple(islice((node for node in count_from(1) if node != CONTROLLER), count))


def count_of(brokers: Sequence[int]) -> str:
    """How many brokers, in words.

    >>> count_of((1,)), count_of((1, 2, 3))
    ('one broker', 'three brokers')
    """
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    count = words[len(brokers)] if len(brokers) < len(words) else str(len(brokers))
    return f"{count} broker{'' if len(brokers) == 1 else 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraListener:
    """A listener for clients that each broker has beside the lanes; its port is chosen by the backend.

    :param name: As in ``listeners``, in capitals: ``SECURE``.
    :param protocol: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.
    :param properties: Settings that it needs, the same on every broker, by Kafka's full names
        (``listener.name.secure.ssl.keystore.location``).
    :param advertised_port: Told to clients instead of the real one, as behind a mapped port; None for the real one.
    """

    name: str
    protocol: str
    properties: Mapping[str, str] = field(default_factory=dict)
    advertised_port: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Nodes, their addresses for clients, and the names of the proxies between them.

    :param brokers: Node ids of the brokers.
    :param controller: Node id of the dedicated controller, or None where it is not ours to reach.
    :param more_controllers: Of the others, where the quorum has several voters.
    :param lanes: For each lane, the address of each broker on it.
    :param links: For each ordered pair (from, to) of nodes, the proxy's name; empty for an external cluster.
    :param lane_proxies: For each (lane, broker), the proxy's name; the observer's lane has none.
    :param advertised: Of a cluster that is not ours, where each broker says that it is. Where that is not its address
        on the observer's lane, its port is mapped, and a client that follows Metadata may not reach it.
    :param listeners: For each extra listener, by its name, the address of each broker on it; no proxy is in front.
    :param security: How clients connect, and which names brokers have in their certificates.
    :param plain_lanes: Lanes on which a proxy of ours speaks TLS and SASL to the brokers, and plaintext to clients.
    """

    brokers: tuple[int, ...]
    controller: int | None
    lanes: Mapping[Lane, Mapping[int, Address]]
    links: Mapping[tuple[int, int], str] = field(default_factory=dict)
    lane_proxies: Mapping[tuple[Lane, int], str] = field(default_factory=dict)
    listeners: Mapping[str, Mapping[int, Address]] = field(default_factory=dict)
    advertised: Mapping[int, Address] = field(default_factory=dict)
    security: Security = PLAINTEXT
    plain_lanes: frozenset[Lane] = frozenset()
    more_controllers: tuple[int, ...] = ()

    @property
    def controllers(self) -> tuple[int, ...]:
        """All voters of the metadata quorum that are ours to reach."""
        return () if self.controller is None else (self.controller, *self.more_controllers)

    def secured(self, lane: str) -> Security:
        """How clients connect on that lane."""
        return PLAINTEXT if lane in self.plain_lanes else self.security

    @property
    def server_names(self) -> Mapping[int, str]:
        """For each broker the host that its certificate is for, which a proxy's address is not."""
        return self.security.names

    def bootstrap(self, lane: Lane) -> str:
        """The lane's addresses as a client's ``bootstrap.servers``."""
        return ",".join(str(self.lanes[lane][broker]) for broker in self.brokers)


def owned_topology(
    lane: Callable[[Lane, int], Address],
    brokers: Sequence[int] = BROKERS,
    listeners: Mapping[str, Mapping[int, Address]] | None = None,
    controllers: Sequence[int] = (CONTROLLER,),
) -> Topology:
    """The topology of a cluster that we start; ``lane`` gives the address at which clients of a lane reach a broker."""
    links = permutations((*brokers, *controllers), 2)
    return Topology(
        brokers=tuple(brokers),
        controller=controllers[0],
        more_controllers=tuple(controllers[1:]),
        lanes={name: {broker: lane(name, broker) for broker in brokers} for name in LANES},
        links={(source, target): link_name(source, target) for source, target in links},
        lane_proxies={
            (name, broker): lane_name(name, broker) for name in LANES if name != "observer" for broker in brokers
        },
        listeners=listeners or {},
    )


def link_name(source: int, target: int) -> str:
    """The proxy of the connections that ``source`` opens to ``target``."""
    return f"link-{source}-{target}"


def lane_name(lane: Lane, broker: int) -> str:
    """The proxy of the lane's connections to ``broker``."""
    return f"lane-{lane}-{broker}"


def node_of(proxy: str) -> int:
    """The node to which a proxy of a link or a lane leads, by its name; -1 where that ends in no number.

    >>> node_of("lane-victim-3"), node_of("link-1-2"), node_of("r")
    (3, 2, -1)
    """
    last = proxy.rpartition("-")[2]
    return int(last) if last.isdecimal() else -1
