"""The docker backend's cluster: four containers, Toxiproxy's between them, and the powers over them."""

import os
import re
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.cluster import toxiproxy
from harness.cluster.cluster import ClusterOptions
from harness.cluster.docker import container_files, image_start_cache, images, networks, ownership, watchdog
from harness.cluster.docker.container_addresses import EDGE, ContainerBlock, edge_ports, link_port
from harness.cluster.docker.container_node import ContainerNode
from harness.cluster.docker.engine import Mount, reach, refused, together
from harness.cluster.docker.image_start_cache import DATA, HOME, NODE, SETTINGS, StartImage
from harness.cluster.docker.images import ImageSource
from harness.cluster.docker.ownership import OwnedResources
from harness.cluster.nodes import jmx_metrics, node_properties, readiness
from harness.cluster.nodes.failpoints import Failpoints
from harness.cluster.nodes.jvm_command import named
from harness.cluster.nodes.node import title
from harness.cluster.nodes.node_ports import NODES, TOXIPROXY
from harness.cluster.nodes.storage import META, new_id, with_ids
from harness.cluster.target import Target
from harness.cluster.topology import BROKERS, CONTROLLER, Topology
from harness.cluster.toxiproxy import ToxiproxyLinks
from harness.machine import download_cache
from harness.machine.run_processes import RunProcesses, open_run_processes


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerCluster:
    """Fills :class:`harness.cluster.cluster.Cluster`; offers every power."""

    identity: str
    versions: Mapping[str, str]
    block: ContainerBlock
    nodes: Mapping[int, ContainerNode]
    links: ToxiproxyLinks
    breaking: Failpoints
    ending: ExitStack

    @property
    def backend(self) -> str:
        """The backend's name."""
        return "docker"

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

    def _running(self) -> list[ContainerNode]:
        return [node for node in self.nodes.values() if node.running()]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildContext:
    """Where a cluster is built: on whose behalf, from which image, with what the user wishes."""

    run: OwnedResources
    area: RunProcesses
    logs: Path
    warm: StartImage
    options: ClusterOptions


def open_docker(
    target: Target, options: ClusterOptions, run_dir: Path, progress: Callable[[str], None]
) -> DockerCluster:
    """Start a cluster from an image; whatever goes wrong on the way, nothing stays behind.

    :raises Trouble: When there is no engine, no image, no room, or a node does not become ready.
    """
    engine = reach()
    logs = run_dir / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    download_cache.require_room(logs)
    with refused(), ExitStack() as undo:
        undo.callback(engine.close)
        undo.enter_context(watchdog.watched())
        ownership.remove_orphans(engine)
        area = open_run_processes()
        undo.callback(area.close)
        run = OwnedResources(engine=engine, name=f"fencepost-{uuid.uuid4().hex[:8]}")
        undo.callback(run.remove)
        source, proxy = images.kafka(engine, target, progress), images.toxiproxy_image(engine, progress)
        block = networks.claim(run)
        warm = image_start_cache.make_start_image(run, source, area.folder, logs, progress)
        progress(f"starting three brokers and a controller of Kafka {warm.version} in containers")
        fault_target = BuildContext(run=run, area=area, logs=logs, warm=warm, options=options)
        block, nodes = _started(fault_target, block, proxy)
        links = ToxiproxyLinks(
            block.api(), doorstep=block.gateway(), reached_at=block.reached_at(), namespace=_seen_in(fault_target)
        )
        toxiproxy.await_answer(links)
        links.create(block.proxies())
        readiness.await_cluster(nodes.values(), block)
        breaking = Failpoints(places=block)
        for node in nodes.values() if options.breakable else ():
            breaking.prepare(node)
        return DockerCluster(
            identity=f"Kafka {warm.version} in {source.reference}, three brokers, docker backend",
            versions=_versions(warm, source, proxy, links),
            block=block,
            nodes=nodes,
            links=links,
            breaking=breaking,
            ending=undo.pop_all(),
        )
    raise AssertionError("an ExitStack that swallows nothing")


def _versions(warm: StartImage, source: ImageSource, proxy: ImageSource, links: ToxiproxyLinks) -> Mapping[str, str]:
    return {
        "kafka": warm.version,
        "java": warm.java,
        "toxiproxy": links.version(),
        "kafka image": source.digest,
        "toxiproxy image": proxy.digest,
    }


def _started(
    fault_target: BuildContext, block: ContainerBlock, proxy: ImageSource
) -> tuple[ContainerBlock, Mapping[int, ContainerNode]]:
    """Networks, then everybody at once; only brokers wait, to be told the ports at which their lanes are published."""
    networks.create_for_nodes(fault_target.run, block)
    cluster_id, published, nodes = new_id(), dict[int, int](), dict[int, ContainerNode]()

    def toxiproxy_up() -> None:
        published.update(_published(_toxiproxy(fault_target, block, proxy)))

    def created(number: int) -> None:
        nodes[number] = _created(fault_target, block, number)
        if number == CONTROLLER:
            started(number)

    def started(number: int) -> None:
        _furnish(fault_target, replace(block, published=published), nodes[number], cluster_id)
        nodes[number].start()

    together(toxiproxy_up, *(partial(created, number) for number in reversed(NODES)))
    together(*(partial(started, number) for number in BROKERS))
    return replace(block, published=published), {number: nodes[number] for number in NODES}


def _toxiproxy(fault_target: BuildContext, block: ContainerBlock, proxy: ImageSource) -> Any:
    """On the edge first, whose ports are published, then on every node's network."""
    api = fault_target.run.engine.sdk.api
    edge = networks.name(fault_target.run, EDGE)
    container = fault_target.run.container(
        proxy.id,
        command=["-host", block.toxiproxy(EDGE), "-port", str(TOXIPROXY), toxiproxy.COUNTING],
        environment={"LOG_LEVEL": "warn"},
        name=f"{fault_target.run.name}-toxiproxy",
        network=edge,
        networking_config={edge: api.create_endpoint_config(ipv4_address=block.toxiproxy(EDGE))},
        ports={f"{port}/tcp": ("127.0.0.1", None) for port in edge_ports()},
        # The name of a node that is down must not be asked for anywhere else, nor for long: a dial waits for it.
        dns=["127.0.0.1"],
        dns_opt=["timeout:1", "attempts:1"],
    )
    for node in NODES:
        place = api.create_endpoint_config(ipv4_address=block.toxiproxy(node))
        api.connect_container_to_network(container.id, networks.name(fault_target.run, node), **_endpoint(place))
    container.start()
    container.reload()
    return container


def _seen_in(fault_target: BuildContext) -> int | None:
    """The process in whose network namespace Toxiproxy listens, where the engine's processes are this machine's."""
    if not fault_target.run.engine.on_this_machine:
        return None
    return int(fault_target.run.engine.sdk.containers.get(f"{fault_target.run.name}-toxiproxy").attrs["State"]["Pid"])


def _endpoint(config: Mapping[str, Any]) -> dict[str, Any]:
    return {"ipv4_address": config["IPAMConfig"]["IPv4Address"]}


def _published(container: Any) -> Mapping[int, int]:
    return {port: int(container.ports[f"{port}/tcp"][0]["HostPort"]) for port in edge_ports()}


def _created(fault_target: BuildContext, block: ContainerBlock, number: int) -> ContainerNode:
    network = networks.name(fault_target.run, number)
    place = fault_target.run.engine.sdk.api.create_endpoint_config(
        ipv4_address=block.node(number, 0).host, aliases=[f"node-{number}"]
    )
    tmp = _tmp(fault_target, number)
    flags = named({"fencepost.node": title(number)})
    command = fault_target.warm.launch(fault_target.options.jvm_options).command("kafka.Kafka", SETTINGS, flags=flags)
    container = fault_target.run.container(
        fault_target.warm.image,
        entrypoint=["java"],
        command=list(map(str, command[1:])),
        user=f"{os.getuid()}:{os.getgid()}",
        hostname=title(number),
        name=f"{fault_target.run.name}-{title(number)}",
        network=network,
        networking_config={network: place},
        extra_hosts=dict(block.hosts(number)),
        mounts=[Mount("/tmp", str(tmp), type="bind")] if tmp else [],  # noqa: S108  HotSpot's place, not ours
    )
    return ContainerNode(number=number, container=container, log=fault_target.logs / f"{title(number)}.log", tmp=tmp)


def _tmp(fault_target: BuildContext, number: int) -> Path | None:
    if not fault_target.run.engine.on_this_machine:
        return None
    folder = fault_target.area.folder / title(number)
    folder.mkdir()
    return folder


def _furnish(fault_target: BuildContext, block: ContainerBlock, node: ContainerNode, cluster_id: str) -> None:
    """The node's settings, its formatted storage, and the files that the user's JVM options name."""
    storage = container_files.get(node.container, str(HOME / "storage"))
    files: dict[str, bytes | Path] = {str(DATA / file): content for file, content in storage.items()}
    files[str(DATA / META)] = with_ids(storage[META].decode(), cluster_id, node.number).encode()
    files[str(SETTINGS)] = node_properties.render(_settings(fault_target, block, node.number)).encode()
    container_files.put(node.container, {**files, **carried(fault_target.options.jvm_options)}, (str(NODE), str(DATA)))


def _settings(fault_target: BuildContext, block: ContainerBlock, node: int) -> Mapping[str, str]:
    quorum, data, extra = link_port(CONTROLLER), str(DATA), fault_target.options.properties
    if node == CONTROLLER:
        return node_properties.of_controller(quorum=quorum, data=data, extra=extra)
    return node_properties.of_broker(node, block.listeners(node), quorum=quorum, data=data, extra=extra)


def carried(options: tuple[str, ...]) -> Mapping[str, Path]:
    """Files of this machine that JVM options name (agents, their scripts): they go to the same paths in a container.

    A folder is taken whole only where classes are loaded from it; elsewhere it may be one to write to.
    """
    found: dict[str, Path] = {}
    for option in options:
        for path in map(Path, re.findall(r"/[^:;,=]+", option)):
            if path.is_file():
                found[str(path)] = path
            elif path.is_dir() and option.startswith(("-Xbootclasspath", "--patch-module")):
                found |= {str(file): file for file in path.rglob("*") if file.is_file()}
    return found
