"""The process backend: a local JVM for each node, from Kafka's jars, with Toxiproxy between them."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.cluster import distribution, toxiproxy
from harness.cluster.backend import Backend, Progress
from harness.cluster.cluster import Cluster, ClusterOptions
from harness.cluster.distribution import KafkaFiles
from harness.cluster.nodes import storage
from harness.cluster.nodes.node import title
from harness.cluster.owned_cluster import OwnedCluster, await_ready, shape_of, told
from harness.cluster.process.loopback_addresses import LoopbackBlock, claim_block
from harness.cluster.process.process_node import ProcessNode, prepare_node
from harness.cluster.process.process_releases import NodeReleases
from harness.cluster.process.process_tool import ProcessTools
from harness.cluster.target import Distribution, Released, Target
from harness.cluster.topology import CONTROLLERS, brokers_of
from harness.machine import download_cache, toolchain
from harness.machine.run_processes import open_run_processes
from harness.machine.toolchain import Java


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The programs that nodes and proxies run on."""

    java: Java
    toxiproxy: Path


def open_process(target: Target, options: ClusterOptions, run_dir: Path, progress: Progress) -> Cluster:
    """Start a cluster; when that fails, everything that was started is ended.

    :raises UserError: When a tool is missing, the target cannot be had, an address is taken, the disk is full, or a
        node does not become ready.
    """
    tools = Tools(java=toolchain.java(), toxiproxy=toxiproxy.program(progress))  # before anything is downloaded
    files = _files(target, progress)
    logs = run_dir / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    download_cache.require_room(logs)
    with ExitStack() as cleanup:
        processes = open_run_processes()
        cleanup.callback(processes.close)
        block = claim_block(brokers_of(options.brokers), options.listeners, CONTROLLERS[: options.controllers])
        cleanup.callback(block.guard.close)
        releases = NodeReleases(
            own=files,
            java=tools.java,
            processes=processes,
            logs=logs,
            jvm_options=options.jvm_options,
            formatted=options.formatted,
            progress=progress,
        )
        for release in dict.fromkeys((None, *options.releases.values())):
            releases.prepare(release, block)
        progress(f"starting {shape_of(block, files.version, options.releases)}")
        links = toxiproxy.launch(processes, tools.toxiproxy, block.toxiproxy(), log=logs / "toxiproxy.log")
        nodes = _prepare_nodes(releases, block, options)
        for node in reversed(nodes.values()):  # controllers first: the brokers wait for them
            node.start()
        failpoints = await_ready(nodes, block, links, breakable=options.breakable)
        return OwnedCluster(
            identity=f"Kafka {files.version} {files.origin}, {told(block, options.releases)}, process backend",
            backend=PROCESS.name,
            versions={"kafka": files.version, "java": tools.java.version, "toxiproxy": links.version()},
            block=block,
            nodes=nodes,
            links=links,
            failpoints=failpoints,
            installer=releases,
            first=options.releases,
            tools=ProcessTools(processes=processes, launch=releases.plain_launch(), logs=logs).start,
            cleanup=cleanup.pop_all(),
        )
    raise AssertionError("an ExitStack that swallows nothing")


def _files(target: Target, progress: Progress) -> KafkaFiles:
    match target:
        case Released():
            return distribution.released(target, progress)
        case Distribution():
            return distribution.distribution(target, progress)
    raise UserError(f"the process backend cannot open {target}; leave --backend at auto", exit=ExitCode.USAGE)


def _prepare_nodes(releases: NodeReleases, block: LoopbackBlock, options: ClusterOptions) -> dict[int, ProcessNode]:
    """Nodes with formatted storage, settings and hosts files; none of them runs yet."""
    cluster_id, processes, nodes = storage.new_id(), releases.processes, dict[int, ProcessNode]()
    for number in block.nodes:
        release = options.releases.get(number)
        data = processes.folder / title(number) / "data"
        releases.storage(release).format(data, cluster_id=cluster_id, node=number)
        launch, extra = releases.launch(release), options.properties_of(number)
        nodes[number] = prepare_node(
            number, processes=processes, block=block, launch=launch, logs=releases.logs, extra=extra
        )
    return nodes


PROCESS = Backend(
    name="process",
    opens=(Released, Distribution),
    reason="its files are started as local JVMs",
    unavailable=lambda _target: None,  # a missing tool is reported when the target is opened
    opener=open_process,
)
