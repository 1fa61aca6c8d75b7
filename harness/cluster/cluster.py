"""The port that every backend fills, and the optional powers that a toxic may ask for.

A backend offers a power by having its methods; its user asks ``isinstance(cluster, Kill)`` and reports
NOT_EXERCISED with the power's name where it is missing. What any Kafka offers on its own protocol (moving a leader,
changing a setting or a feature level) is not a power of a backend: see :mod:`harness.kafka.administration`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from harness.base.addresses import Address
from harness.cluster.nodes.storage import Format
from harness.cluster.nodes.user_listener import AUTHORIZED, user_listener
from harness.cluster.topology import BROKERS, ExtraListener, Topology
from harness.contract.own_cluster import OwnCluster

Direction: TypeAlias = Literal["upstream", "downstream"]


class Links(Protocol):
    """The proxies of a cluster: what can be done to its links and lanes. Filled by Toxiproxy."""

    def add_toxic(
        self, proxy: str, *, kind: str, direction: Direction, attributes: Mapping[str, int], name: str
    ) -> None:
        """Put a Toxiproxy toxic of ``kind`` on a proxy; ``upstream`` is from the connecting side to the server."""

    def remove_toxic(self, proxy: str, name: str) -> None:
        """Remove a toxic; bytes that it held are delivered in order. Removing one that is gone is no error."""

    def disable(self, proxy: str) -> None:
        """Close the proxy's connections and refuse new ones."""

    def enable(self, proxy: str) -> None:
        """Let connections through again."""

    @property
    def host_for_proxies(self) -> str:
        """An address of this machine at which proxies reach a server that we start."""

    def upstream(self, proxy: str) -> Address:
        """The proxy's upstream now, as it is reached from this machine."""

    def redirect(self, proxy: str, address: Address) -> None:
        """Connect new connections to another address; open ones are closed."""

    def restore(self, proxy: str) -> None:
        """Set the first upstream again. A proxy that was never redirected is left alone."""

    def traffic(self, proxy: str) -> int:
        """Bytes that the proxy has received from the connecting side so far; a difference is what a fault met.

        Where the kernel does not list the proxy's sockets, only those of connections that have ended.
        """

    def connections(self, proxy: str) -> frozenset[int]:
        """The open connections, by numbers that are never used again; none where they cannot be listed."""

    def disturbed(self) -> Sequence[str]:
        """Every toxic and disabled proxy that is still there, as ``proxy/toxic`` or ``proxy disabled``.

        A redirected proxy is not among them.
        """

    def reset(self) -> None:
        """Enable all proxies, remove all toxics, restore all upstreams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """What a caller may choose about a cluster.

    :param jvm_options: Extra JVM options of every broker and the controller, after ours (``-javaagent:…``).
    :param properties: Extra properties of all nodes; they win over ours.
    :param node_properties: Of single nodes, by node id; they win over these.
    :param formatted: How storage is formatted.
    :param releases: Nodes that run another release than the target's, by node id.
    :param brokers: How many brokers a cluster that we start has.
    :param controllers: How many controllers it has: one, or three.
    :param listeners: Listeners for clients that each broker of ours has beside the lanes.
    :param breakable: Load the Byteman agent, so that the cluster offers :class:`BreakCode`.
    :param client_properties: Of a cluster that is not ours: a file in Kafka's format that says how clients connect.
    """

    jvm_options: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    node_properties: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    formatted: Format = field(default_factory=Format)
    releases: Mapping[int, str] = field(default_factory=dict)
    brokers: int = len(BROKERS)
    controllers: int = 1
    listeners: tuple[ExtraListener, ...] = ()
    breakable: bool = False
    client_properties: Path | None = None

    def changed(self, wish: OwnCluster) -> "ClusterOptions":
        """These options, for a cluster as a requirement asks for it; its wish wins."""
        authorized = AUTHORIZED if wish.users else {}
        return replace(
            self,
            properties={**self.properties, **authorized, **wish.properties},
            node_properties=wish.node_properties,
            formatted=Format(features=wish.features, metadata=wish.metadata),
            releases=wish.releases,
            brokers=wish.brokers,
            listeners=(*self.listeners, user_listener(wish.users)) if wish.users else self.listeners,
        )

    def properties_of(self, node: int) -> Mapping[str, str]:
        """The extra properties of one node."""
        return {**self.properties, **self.node_properties.get(node, {})}


class Cluster(Protocol):
    """A running Kafka, ready for a first transaction."""

    @property
    def identity(self) -> str:
        """One phrase for the report: ``Kafka 4.3.1 from Maven, three brokers, process backend``."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Known versions of its parts: ``{"kafka": "4.3.1", "java": …, "toxiproxy": …}``, and digests of images."""

    @property
    def backend(self) -> str:
        """The backend's name, one of :mod:`harness.cluster.backend_catalogue`."""

    @property
    def owned(self) -> bool:
        """Whether we started its brokers: then it may be replaced by a fresh one, and needs no tidying up."""

    @property
    def topology(self) -> Topology:
        """Addresses and proxy names; they stay the same, also over kills and restarts."""

    @property
    def links(self) -> Links | None:
        """Its proxies, or None where there are none (an external cluster without Toxiproxy)."""

    @property
    def toxiproxy_api(self) -> str | None:
        """``http://host:port`` of Toxiproxy's API, for a person who wants to try faults by hand."""

    def logs(self) -> Mapping[str, Path]:
        """Log file of each node by name (``broker-1``, ``controller-4``); empty where they are not ours to read."""

    def close(self) -> None:
        """End everything that was started. May be called twice."""


@runtime_checkable
class Kill(Protocol):
    """Power: end a node as ``kill -9`` does, and start it again with the same data and addresses."""

    def kill(self, node: int) -> None:
        """SIGKILL; returns when the process is gone."""

    def restart(self, node: int) -> None:
        """Start a killed node again; returns when every broker lists it, alive."""


@runtime_checkable
class Stop(Protocol):
    """Power: shut a broker down, as an operator does; :class:`Kill` starts it again."""

    def stop(self, node: int) -> None:
        """SIGTERM; returns when the process is gone, its leaderships handed over (``BrokerServer.shutdown``).

        :raises TimedOut: When it is still there after the bound.
        """


@runtime_checkable
class RunRelease(Protocol):
    """Power: start a node's data again with the jars of another release, as an upgrade or a downgrade does."""

    def run_release(self, node: int, release: str | None, *, timeout_seconds: float | None = None) -> None:
        """Stop the node in order, and start it with this release (None: the target's own).

        :param timeout_seconds: Within which it must be back; None for the bound of every start.
        :raises UserError: NOT_READY, when it ends, or when it is not let in; it does not run then.
        """

    def started_with(self, node: int) -> str | None:
        """The release that a node was started with first; None where that is the target's own."""

    def altered(self) -> bool:
        """Whether a node runs another release now than the one that it was started with first."""


@runtime_checkable
class Pause(Protocol):
    """Power: suspend a node's process."""

    def pause(self, node: int) -> None:
        """SIGSTOP."""

    def resume(self, node: int) -> None:
        """SIGCONT."""


@runtime_checkable
class FillDisk(Protocol):
    """Power: let a node's writes fail, as on a full disk."""

    def fill_disk(self, node: int) -> None:
        """Every write to a file fails until the node is started again."""

    def ended(self, node: int) -> bool:
        """Whether its process is gone."""


@runtime_checkable
class ReadMetrics(Protocol):
    """Power: read a JMX metric of a node."""

    def read_metric(self, node: int, mbean: str, attribute: str) -> float:
        """The attribute's value now; :raises LookupError: when the node has no such metric."""


@runtime_checkable
class BreakCode(Protocol):
    """Power: load Byteman rules into every node's JVM, to prove a requirement able to fail."""

    def load_rules(self, rules: str) -> None:
        """Load the rules into all nodes; :raises RuntimeError: with Byteman's message when a rule does not apply."""

    def entered_rules(self) -> frozenset[str]:
        """The names of loaded rules whose place in the code was come to since."""

    def unload_rules(self) -> None:
        """Take all loaded rules out again."""


@runtime_checkable
class BreakNode(Protocol):
    """Power: load Byteman rules into one node's JVM, as a fault of that node."""

    def load_rules_into(self, node: int, rules: str) -> None:
        """Load the rules; :raises RuntimeError: with Byteman's message when a rule does not apply."""

    def unload_rules_from(self, node: int, rules: str) -> frozenset[str]:
        """Take them out again; the names of those whose place in the node's code was come to.

        :raises RuntimeError: When one failed while it was there.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """How a command line tool ended."""

    exit_code: int
    stdout: str
    stderr: str


class RunningTool(Protocol):
    """A command line tool that was started."""

    def wait(self, timeout_seconds: float) -> ToolResult | None:
        """How it ended; None when it is still running after that time: then it is ended."""


@runtime_checkable
class RunTool(Protocol):
    """Power: run one of the command line tools that the target itself brings, as an operator does."""

    def start_tool(self, main: str, arguments: Sequence[str]) -> RunningTool:
        """Start the class ``main`` of the target's jars; it reaches brokers by the addresses of the lanes."""
