"""Starts a cluster of four containers with Toxiproxy's container between them."""

import os
import re
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.cluster import toxiproxy
from harness.cluster.backend import Progress
from harness.cluster.cluster import ClusterOptions
from harness.cluster.docker import BACKEND, container_files, container_orphans, images, networks, ownership
from harness.cluster.docker.container_addresses import EDGE, ContainerBlock, edge_ports, link_port
from harness.cluster.docker.container_node import ContainerNode
from harness.cluster.docker.container_tool import ContainerTools
from harness.cluster.docker.engine import Mount, engine_errors, in_parallel, reach
from harness.cluster.docker.image_start_cache import DATA, HOME, NODE, SETTINGS, StartImage, make_start_image
from harness.cluster.docker.images import ImageSource
from harness.cluster.docker.ownership import OwnedResources
from harness.cluster.nodes import node_properties
from harness.cluster.nodes.jvm_command import system_properties
from harness.cluster.nodes.node import title
from harness.cluster.nodes.node_ports import TOXIPROXY
from harness.cluster.nodes.storage import META, new_id, with_ids
from harness.cluster.owned_cluster import OwnedCluster, await_ready
from harness.cluster.target import Target
from harness.cluster.topology import BROKERS, CONTROLLER, NODES
from harness.cluster.toxiproxy import ToxiproxyLinks
from harness.machine import download_cache
from harness.machine.run_processes import RunProcesses, open_run_processes


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerStart:
    """What every container of a cluster is created from."""

    run: OwnedResources
    processes: RunProcesses
    logs: Path
    image: StartImage
    options: ClusterOptions


def open_docker(
    target: Target, options: ClusterOptions, run_dir: Path, progress: Progress
) -> OwnedCluster[ContainerNode, ContainerBlock]:
    """Start a cluster from an image; when that fails, everything that was started is ended.

    :raises UserError: When there is no engine, no image, no room, or a node does not become ready.
    """
    engine = reach()
    logs = run_dir / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    download_cache.require_room(logs)
    with engine_errors(), ExitStack() as cleanup:
        cleanup.callback(engine.close)
        ownership.remove_orphans(engine)
        processes = open_run_processes(also_run=[container_orphans.__name__])
        cleanup.callback(processes.close)
        run = OwnedResources(engine=engine, name=f"fencepost-{uuid.uuid4().hex[:8]}")
        cleanup.callback(run.remove)
        source, proxy = images.kafka_image(engine, target, progress), images.toxiproxy_image(engine, progress)
        block = networks.claim_network(run)
        image = make_start_image(run, source, processes.folder, logs, progress)
        progress(f"starting three brokers and a controller of Kafka {image.version} in containers")
        start = ContainerStart(run=run, processes=processes, logs=logs, image=image, options=options)
        block, nodes = _start_all(start, block, proxy)
        links = ToxiproxyLinks(
            block.api(),
            host_for_proxies=block.gateway(),
            upstream_hosts=block.upstream_hosts(),
            namespace=_toxiproxy_process(start),
        )
        failpoints = await_ready(nodes, block, links, breakable=options.breakable)
        return OwnedCluster(
            identity=f"Kafka {image.version} in {source.reference}, three brokers, {BACKEND} backend",
            backend=BACKEND,
            versions=_versions(image, source, proxy, links),
            block=block,
            nodes=nodes,
            links=links,
            failpoints=failpoints,
            tools=ContainerTools(run=run, image=image).start,
            cleanup=cleanup.pop_all(),
        )
    raise AssertionError("an ExitStack that swallows nothing")


def _versions(image: StartImage, source: ImageSource, proxy: ImageSource, links: ToxiproxyLinks) -> Mapping[str, str]:
    return {
        "kafka": image.version,
        "java": image.java,
        "toxiproxy": links.version(),
        "kafka image": source.digest,
        "toxiproxy image": proxy.digest,
    }


def _start_all(
    start: ContainerStart, block: ContainerBlock, proxy: ImageSource
) -> tuple[ContainerBlock, Mapping[int, ContainerNode]]:
    """Networks, then all containers at once; only brokers wait, for the ports at which their lanes are published."""
    networks.create_for_nodes(start.run, block)
    cluster_id, published, nodes = new_id(), dict[int, int](), dict[int, ContainerNode]()

    def start_toxiproxy() -> None:
        published.update(_published(_toxiproxy(start, block, proxy)))

    def create_node(number: int) -> None:
        nodes[number] = _create_node(start, block, number)
        if number == CONTROLLER:
            start_node(number)

    def start_node(number: int) -> None:
        _put_files(start, replace(block, published=published), nodes[number], cluster_id)
        nodes[number].start()

    in_parallel(start_toxiproxy, *(partial(create_node, number) for number in reversed(NODES)))
    in_parallel(*(partial(start_node, number) for number in BROKERS))
    return replace(block, published=published), {number: nodes[number] for number in NODES}


def _toxiproxy(start: ContainerStart, block: ContainerBlock, proxy: ImageSource) -> Any:
    """Toxiproxy's container: on the edge network first, whose ports are published, then on every node's."""
    api = start.run.engine.sdk.api
    edge = networks.network_name(start.run, EDGE)
    container = start.run.container(
        proxy.id,
        command=["-host", block.toxiproxy(EDGE), "-port", str(TOXIPROXY), toxiproxy.METRICS_FLAG],
        environment={"LOG_LEVEL": "warn"},
        name=f"{start.run.name}-toxiproxy",
        network=edge,
        networking_config={edge: api.create_endpoint_config(ipv4_address=block.toxiproxy(EDGE))},
        ports={f"{port}/tcp": ("127.0.0.1", None) for port in edge_ports()},
        # The name of a node that is down must not be looked up anywhere else, nor for long: a connect waits for it.
        dns=["127.0.0.1"],
        dns_opt=["timeout:1", "attempts:1"],
    )
    for node in NODES:
        endpoint = api.create_endpoint_config(ipv4_address=block.toxiproxy(node))
        api.connect_container_to_network(container.id, networks.network_name(start.run, node), **_address_of(endpoint))
    container.start()
    container.reload()
    return container


def _toxiproxy_process(start: ContainerStart) -> int | None:
    """The process in whose network namespace Toxiproxy listens, where the engine's processes are this machine's."""
    if not start.run.engine.on_this_machine:
        return None
    return int(start.run.engine.sdk.containers.get(f"{start.run.name}-toxiproxy").attrs["State"]["Pid"])


def _address_of(endpoint: Mapping[str, Any]) -> dict[str, Any]:
    return {"ipv4_address": endpoint["IPAMConfig"]["IPv4Address"]}


def _published(container: Any) -> Mapping[int, int]:
    return {port: int(container.ports[f"{port}/tcp"][0]["HostPort"]) for port in edge_ports()}


def _create_node(start: ContainerStart, block: ContainerBlock, number: int) -> ContainerNode:
    network = networks.network_name(start.run, number)
    endpoint = start.run.engine.sdk.api.create_endpoint_config(
        ipv4_address=block.node(number, 0).host, aliases=[f"node-{number}"]
    )
    tmp = _tmp(start, number)
    flags = system_properties({"fencepost.node": title(number)})
    command = start.image.launch(start.options.jvm_options).command("kafka.Kafka", SETTINGS, flags=flags)
    container = start.run.container(
        start.image.image,
        entrypoint=["java"],
        command=list(map(str, command[1:])),
        user=f"{os.getuid()}:{os.getgid()}",
        hostname=title(number),
        name=f"{start.run.name}-{title(number)}",
        network=network,
        networking_config={network: endpoint},
        extra_hosts=dict(block.hosts(number)),
        mounts=[Mount("/tmp", str(tmp), type="bind")] if tmp else [],  # noqa: S108  where HotSpot opens its socket
    )
    return ContainerNode(number=number, container=container, log=start.logs / f"{title(number)}.log", tmp=tmp)


def _tmp(start: ContainerStart, number: int) -> Path | None:
    if not start.run.engine.on_this_machine:
        return None
    folder = start.processes.folder / title(number)
    folder.mkdir()
    return folder


def _put_files(start: ContainerStart, block: ContainerBlock, node: ContainerNode, cluster_id: str) -> None:
    """Put the node's settings, its formatted storage, and the files that the user's JVM options name."""
    storage = container_files.get_files(node.container, str(HOME / "storage"))
    files: dict[str, bytes | Path] = {str(DATA / file): content for file, content in storage.items()}
    files[str(DATA / META)] = with_ids(storage[META].decode(), cluster_id, node.number).encode()
    settings = node_properties.of_node(
        node.number, block, quorum=link_port(CONTROLLER), data=str(DATA), extra=start.options.properties_of(node.number)
    )
    files[str(SETTINGS)] = node_properties.render(settings).encode()
    container_files.put_files(
        node.container, {**files, **files_named_in(start.options.jvm_options)}, (str(NODE), str(DATA))
    )


def files_named_in(options: tuple[str, ...]) -> Mapping[str, Path]:
    """Files of this machine that JVM options name (agents, their scripts), to be put at the same paths in a container.

    A folder is included only where classes are loaded from it; elsewhere it may be one to write to.
    """
    found: dict[str, Path] = {}
    for option in options:
        for path in map(Path, re.findall(r"/[^:;,=]+", option)):
            if path.is_file():
                found[str(path)] = path
            elif path.is_dir() and option.startswith(("-Xbootclasspath", "--patch-module")):
                found |= {str(file): file for file in path.rglob("*") if file.is_file()}
    return found
