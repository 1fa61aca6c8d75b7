"""A cluster that we started: its nodes behind their proxies, and the powers over them, on either backend."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from harness.cluster import toxiproxy
from harness.cluster.cluster import RunningTool
from harness.cluster.nodes import jmx_metrics, readiness
from harness.cluster.nodes.failpoints import Failpoints
from harness.cluster.nodes.node import Node
from harness.cluster.nodes.node_addresses import NodeAddresses
from harness.cluster.topology import Topology, owned_topology
from harness.cluster.toxiproxy import ToxiproxyLinks

AnyNode = TypeVar("AnyNode", bound=Node)
AnyBlock = TypeVar("AnyBlock", bound=NodeAddresses)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedCluster(Generic[AnyNode, AnyBlock]):
    """Fills :class:`harness.cluster.cluster.Cluster`; offers every power.

    :param block: The addresses of its nodes and proxies.
    :param tools: Starts a class of the target's jars with arguments, under the Byteman rules that are loaded now.
    :param cleanup: Ends everything that was started for it.
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
