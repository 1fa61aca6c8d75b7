"""A cluster that we started: its nodes behind their proxies, and the powers over them, on either backend."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from harness.base.user_error import UserError
from harness.cluster import toxiproxy
from harness.cluster.cluster import RunningTool
from harness.cluster.nodes import jmx_metrics, readiness
from harness.cluster.nodes.failpoints import Failpoints
from harness.cluster.nodes.node import Node, title
from harness.cluster.nodes.node_addresses import NodeAddresses
from harness.cluster.topology import Topology, count_of, owned_topology
from harness.cluster.toxiproxy import ToxiproxyLinks

AnyNode = TypeVar("AnyNode", bound=Node)
AnyBlock = TypeVar("AnyBlock", bound=NodeAddresses)
OneNode = TypeVar("OneNode", bound=Node, contravariant=True)


class InstallRelease(Protocol[OneNode]):
    """Lets nodes run another release; None stands for the target."""

    def fetch(self, release: str | None) -> None:
        """Have the release ready; :raises UserError: when there is no such release."""

    def install(self, node: OneNode, release: str | None) -> None:
        """Let a node that is stopped start with a release that was fetched, from now on; its data stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedCluster(Generic[AnyNode, AnyBlock]):
    """Fills :class:`harness.cluster.cluster.Cluster`; offers every power.

    :param block: The addresses of its nodes and proxies.
    :param tools: Starts a class of the target's jars with arguments, under the Byteman rules that are loaded now.
    :param cleanup: Ends everything that was started for it.
    :param first: The releases of nodes that were started with another one than the target's.
    :param now: Those that were started with another release since.
    """

    identity: str
    backend: str
    versions: Mapping[str, str]
    block: AnyBlock
    nodes: Mapping[int, AnyNode]
    links: ToxiproxyLinks
    failpoints: Failpoints
    tools: Callable[[str, Sequence[str], Sequence[str]], RunningTool]
    cleanup: ExitStack
    installer: InstallRelease[AnyNode]
    first: Mapping[int, str] = field(default_factory=dict)
    now: dict[int, str | None] = field(default_factory=dict)

    @property
    def owned(self) -> bool:
        """We started its brokers."""
        return True

    @property
    def topology(self) -> Topology:
        return owned_topology(self.block.lane, self.block.brokers, self.block.extra_listeners, self.block.controllers)

    @property
    def toxiproxy_api(self) -> str:
        return f"http://{self.links.api}"

    def logs(self) -> Mapping[str, Path]:
        return {node.name: node.log for node in self.nodes.values()}

    def kill(self, node: int) -> None:
        self.nodes[node].kill()

    def stop(self, node: int) -> None:
        self.nodes[node].stop()

    def restart(self, node: int) -> None:
        self.nodes[node].start()
        readiness.await_restarted(self.nodes[node], self.nodes.values(), self.block)
        self.failpoints.load_again(self.nodes[node])

    def run_release(self, node: int, release: str | None, *, timeout_seconds: float | None = None) -> None:
        """Fills :class:`harness.cluster.cluster.RunRelease`; rules are for the target alone."""
        self.installer.fetch(release)
        changed = self.nodes[node]
        if changed.running():
            changed.stop()
        self.installer.install(changed, release)
        self.now[node] = release
        changed.start()
        bound = readiness.READY_SECONDS if timeout_seconds is None else timeout_seconds
        try:
            readiness.await_restarted(changed, self.nodes.values(), self.block, timeout_seconds=bound)
        except UserError:
            changed.kill()
            raise
        if release is None:
            self.failpoints.load_again(changed)
        elif self.failpoints.scripts:
            self.failpoints.prepare(changed)  # it is asked for its rules when they are taken out

    def started_with(self, node: int) -> str | None:
        return self.first.get(node)

    def altered(self) -> bool:
        return any(release != self.first.get(node) for node, release in self.now.items())

    def fill_disk(self, node: int) -> None:
        self.nodes[node].fill_disk()

    def ended(self, node: int) -> bool:
        return not self.nodes[node].running()

    def pause(self, node: int) -> None:
        self.nodes[node].pause()

    def resume(self, node: int) -> None:
        self.nodes[node].resume()

    def read_metric(self, node: int, mbean: str, attribute: str) -> float:
        return jmx_metrics.read_metric(self.nodes[node], self.block, mbean, attribute)

    def start_tool(self, main: str, arguments: Sequence[str]) -> RunningTool:
        return self.tools(main, arguments, self.failpoints.scripts)

    def load_rules(self, rules: str) -> None:
        self.failpoints.load(self._running(), rules)

    def entered_rules(self) -> frozenset[str]:
        return self.failpoints.entered(self._running())

    def unload_rules(self) -> None:
        self.failpoints.unload(self._running())

    def load_rules_into(self, node: int, rules: str) -> None:
        self.failpoints.load_beside(self.nodes[node], rules)

    def unload_rules_from(self, node: int, rules: str) -> frozenset[str]:
        return self.failpoints.unload_beside(self.nodes[node], rules)

    def close(self) -> None:
        self.cleanup.close()

    def _running(self) -> list[AnyNode]:
        return [node for node in self.nodes.values() if node.running()]


def await_ready(
    nodes: Mapping[int, Node], block: NodeAddresses, links: ToxiproxyLinks, *, breakable: bool
) -> Failpoints:
    """Create the proxies of nodes that are starting, and wait until a first transaction is possible.

    :param breakable: Load the Byteman agent, so that rules can be loaded without a wait.
    :raises UserError: NOT_READY, with the log of the node that is missing.
    """
    toxiproxy.await_answer(links)
    links.create(block.proxies())
    readiness.await_cluster(nodes.values(), block)
    failpoints = Failpoints(addresses=block)
    for node in nodes.values() if breakable else ():
        failpoints.prepare(node)
    return failpoints


def shape_of(addresses: NodeAddresses, version: str, releases: Mapping[int, str]) -> str:
    """What is started, for people: ``three brokers and a controller of Kafka 3.9.2 and 4.3.1``."""
    begun = sorted({releases.get(node, version) for node in (*addresses.brokers, *addresses.controllers)})
    controllers = "a controller" if len(addresses.controllers) == 1 else "three controllers"
    return f"{count_of(addresses.brokers)} and {controllers} of Kafka {' and '.join(begun)}"


def told(addresses: NodeAddresses, releases: Mapping[int, str]) -> str:
    """How many brokers there are, and which nodes are of another release."""
    others = [f"{title(node)} of {release}" for node, release in sorted(releases.items())]
    return ", ".join([count_of(addresses.brokers), *others])
