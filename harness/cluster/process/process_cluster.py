"""The process backend's cluster: four JVMs, Toxiproxy between them, and the powers over them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness.cluster import toxiproxy
from harness.cluster.cluster import ClusterOptions
from harness.cluster.distribution import KafkaFiles
from harness.cluster.nodes import jmx_metrics, readiness, storage
from harness.cluster.nodes.failpoints import Failpoints
from harness.cluster.nodes.node import title
from harness.cluster.nodes.node_ports import NODES
from harness.cluster.process import process_start_cache
from harness.cluster.process.loopback_addresses import LoopbackBlock, claim_block
from harness.cluster.process.process_node import ProcessNode, prepared
from harness.cluster.topology import Topology
from harness.cluster.toxiproxy import ToxiproxyLinks
from harness.machine import download_cache, toolchain
from harness.machine.run_processes import open_run_processes
from harness.machine.toolchain import Java


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessCluster:
    """Fills :class:`harness.cluster.cluster.Cluster`; offers every power."""

    identity: str
    versions: Mapping[str, str]
    block: LoopbackBlock
    nodes: Mapping[int, ProcessNode]
    links: ToxiproxyLinks
    breaking: Failpoints
    ending: ExitStack

    @property
    def backend(self) -> str:
        """The backend's name."""
        return "process"

    @property
    def topology(self) -> Topology:
        """Addresses and proxy names; constant."""
        return self.block.topology()

    @property
    def toxiproxy_api(self) -> str:
        """Toxiproxy's API."""
        return f"http://{self.links.api}"

    def logs(self) -> Mapping[str, Path]:
        """Log file of each node by name."""
        return {node.name: node.log for node in self.nodes.values()}

    def kill(self, node: int) -> None:
        """SIGKILL; returns when the process is gone."""
        self.nodes[node].kill()

    def stop(self, node: int) -> None:
        """SIGTERM; returns when the process is gone, its leaderships handed over; :raises NotInTime: when it stays."""
        self.nodes[node].stop()

    def restart(self, node: int) -> None:
        """Start a killed node again; returns when every broker lists it, alive."""
        self.nodes[node].start()
        readiness.await_restarted(self.nodes[node], self.nodes.values(), self.block)
        self.breaking.repeat(self.nodes[node])

    def pause(self, node: int) -> None:
        """SIGSTOP."""
        self.nodes[node].pause()

    def resume(self, node: int) -> None:
        """SIGCONT."""
        self.nodes[node].resume()

    def read_metric(self, node: int, mbean: str, attribute: str) -> float:
        """The attribute's value now; :raises LookupError: when the node has no such metric."""
        return jmx_metrics.read_metric(self.nodes[node], self.block, mbean, attribute)

    def load_rules(self, rules: str) -> None:
        """Load the rules into all nodes; :raises RuntimeError: with Byteman's words when a rule does not apply."""
        self.breaking.load(self._running(), rules)

    def unload_rules(self) -> None:
        """Take all loaded rules out again; :raises RuntimeError: when one failed while it was there."""
        self.breaking.unload(self._running())

    def close(self) -> None:
        """End everything that was started. May be called twice."""
        self.ending.close()

    def _running(self) -> list[ProcessNode]:
        return [node for node in self.nodes.values() if node.running()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The programs that nodes and proxies run on."""

    java: Java
    toxiproxy: Path


def find_tools(progress: Callable[[str], None]) -> Tools:
    """Java and Toxiproxy, looked for before anything is downloaded or started.

    :raises Trouble: TOOL_MISSING.
    """
    return Tools(java=toolchain.java(), toxiproxy=toxiproxy.program(progress))


def open_process(
    files: KafkaFiles, tools: Tools, options: ClusterOptions, run_dir: Path, progress: Callable[[str], None]
) -> ProcessCluster:
    """Start a cluster from jars; whatever goes wrong on the way, nothing stays behind.

    :raises Trouble: When an address is taken, the disk is full, or a node does not become ready.
    """
    logs = run_dir / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    download_cache.require_room(logs)
    with ExitStack() as undo:
        area = open_run_processes()
        undo.callback(area.close)
        block = claim_block()
        undo.callback(block.guard.close)
        warm = process_start_cache.make_start_cache(files, tools.java, area, block, logs, progress)
        progress(f"starting three brokers and a controller of Kafka {files.version}")
        links = toxiproxy.launch(area, tools.toxiproxy, block.toxiproxy(), log=logs / "toxiproxy.log")
        launch = warm.launch(files, tools.java, options.jvm_options)
        cluster_id = storage.new_id()
        for number in NODES:
            warm.format(area.folder / title(number) / "data", cluster_id=cluster_id, node=number)
        nodes = {
            number: prepared(number, area=area, block=block, launch=launch, logs=logs, extra=options.properties)
            for number in NODES
        }
        _start(list(nodes.values()), links, block)
        breaking = Failpoints(places=block)
        for node in nodes.values() if options.breakable else ():
            breaking.prepare(node)
        return ProcessCluster(
            identity=f"Kafka {files.version} {files.origin}, three brokers, process backend",
            versions={"kafka": files.version, "java": tools.java.version, "toxiproxy": links.version()},
            block=block,
            nodes=nodes,
            links=links,
            breaking=breaking,
            ending=undo.pop_all(),
        )
    raise AssertionError("an ExitStack that swallows nothing")


def _start(nodes: Sequence[ProcessNode], links: ToxiproxyLinks, block: LoopbackBlock) -> None:
    """All JVMs at once (the controller first, for whom the brokers wait), the proxies while they load; then wait."""
    for node in reversed(nodes):
        node.start()
    toxiproxy.await_answer(links)
    links.create(block.proxies())
    readiness.await_cluster(nodes, block)
