"""Starts a cluster of containers, one a node, with Toxiproxy's container between them."""

import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.cluster import toxiproxy
from harness.cluster.backend import Progress
from harness.cluster.cluster import ClusterOptions
from harness.cluster.docker import BACKEND, container_orphans, images, networks, ownership
from harness.cluster.docker.container_addresses import EDGE, ContainerBlock
from harness.cluster.docker.container_node import ContainerNode
from harness.cluster.docker.container_nodes import ContainerNodes
from harness.cluster.docker.container_releases import ContainerReleases
from harness.cluster.docker.container_tool import ContainerTools
from harness.cluster.docker.engine import engine_errors, in_parallel, reach
from harness.cluster.docker.image_start_cache import StartImage
from harness.cluster.docker.images import ImageSource
from harness.cluster.docker.ownership import OwnedResources
from harness.cluster.nodes.node_ports import TOXIPROXY
from harness.cluster.nodes.storage import new_id
from harness.cluster.owned_cluster import OwnedCluster, await_ready, shape_of, told
from harness.cluster.target import Target
from harness.cluster.topology import CONTROLLERS, brokers_of
from harness.cluster.toxiproxy import ToxiproxyLinks
from harness.machine import download_cache
from harness.machine.run_processes import open_run_processes


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
        block = networks.claim_network(
            run, brokers_of(options.brokers), options.listeners, CONTROLLERS[: options.controllers]
        )
        releases = _releases(run, source, processes.folder, logs, options, progress)
        made = ContainerNodes(
            run=run, folder=processes.folder, logs=logs, releases=releases, options=options, block=block
        )
        image = releases.image(None).image
        progress(f"starting {shape_of(block, image.version, options.releases)} in containers")
        made, nodes = _start_all(made, proxy)
        block = made.block
        links = _links(run, block)
        failpoints = await_ready(nodes, block, links, breakable=options.breakable)
        return OwnedCluster(
            identity=f"Kafka {image.version} in {source.reference}, {told(block, options.releases)}, {BACKEND} backend",
            backend=BACKEND,
            versions=_versions(image, source, proxy, links),
            block=block,
            nodes=nodes,
            links=links,
            failpoints=failpoints,
            installer=made,
            first=options.releases,
            tools=ContainerTools(run=run, image=image).start,
            cleanup=cleanup.pop_all(),
        )
    raise AssertionError("an ExitStack that swallows nothing")


def _releases(
    run: OwnedResources, source: ImageSource, folder: Path, logs: Path, options: ClusterOptions, progress: Progress
) -> ContainerReleases:
    """The images of all releases that the cluster begins with."""
    releases = ContainerReleases(
        run=run, source=source, folder=folder, logs=logs, formatted=options.formatted, progress=progress
    )
    for release in dict.fromkeys((None, *options.releases.values())):
        releases.fetch(release)
    return releases


def _versions(image: StartImage, source: ImageSource, proxy: ImageSource, links: ToxiproxyLinks) -> Mapping[str, str]:
    return {
        "kafka": image.version,
        "java": image.java,
        "toxiproxy": links.version(),
        "kafka image": source.digest,
        "toxiproxy image": proxy.digest,
    }


def _start_all(made: ContainerNodes, proxy: ImageSource) -> tuple[ContainerNodes, Mapping[int, ContainerNode]]:
    """Networks, then all containers at once; only brokers wait, for the ports at which their lanes are published."""
    run, block = made.run, made.block
    networks.create_for_nodes(run, block)
    cluster_id, published, nodes = new_id(), dict[int, int](), dict[int, ContainerNode]()

    def start_toxiproxy() -> None:
        published.update(_published(_toxiproxy(run, block, proxy), block))

    def create_node(number: int) -> None:
        nodes[number] = made.create(number)
        if number in block.controllers:
            start_node(number)

    def start_node(number: int) -> None:
        replace(made, block=replace(block, published=published)).fill(nodes[number], cluster_id)
        nodes[number].start()

    in_parallel(start_toxiproxy, *(partial(create_node, number) for number in reversed(block.nodes)))
    in_parallel(*(partial(start_node, number) for number in block.brokers))
    return replace(made, block=replace(block, published=published)), {number: nodes[number] for number in block.nodes}


def _toxiproxy(run: OwnedResources, block: ContainerBlock, proxy: ImageSource) -> Any:
    """Toxiproxy's container: on the edge network first, whose ports are published, then on every node's."""
    api = run.engine.sdk.api
    edge = networks.network_name(run, EDGE)
    container = run.container(
        proxy.id,
        command=["-host", block.toxiproxy(EDGE), "-port", str(TOXIPROXY), toxiproxy.METRICS_FLAG],
        environment=toxiproxy.ENVIRONMENT,
        name=f"{run.name}-toxiproxy",
        network=edge,
        networking_config={edge: api.create_endpoint_config(ipv4_address=block.toxiproxy(EDGE))},
        ports={f"{port}/tcp": ("127.0.0.1", None) for port in block.edge_ports()},
        # The name of a node that is down must be unknown at once, because every connect to the proxy waits for the
        # answer: the engine asks nobody else for a name without a dot where ndots is set (libnetwork's resolver).
        dns=["127.0.0.1"],
        dns_opt=["ndots:1", "timeout:1", "attempts:1"],
    )
    for node in block.nodes:
        endpoint = api.create_endpoint_config(ipv4_address=block.toxiproxy(node))
        api.connect_container_to_network(container.id, networks.network_name(run, node), **_address_of(endpoint))
    container.start()
    container.reload()
    return container


def _links(run: OwnedResources, block: ContainerBlock) -> ToxiproxyLinks:
    return ToxiproxyLinks(
        block.api(),
        host_for_proxies=block.gateway(),
        upstream_hosts=block.upstream_hosts(),
        namespace=_toxiproxy_process(run),
    )


def _toxiproxy_process(run: OwnedResources) -> int | None:
    """The process in whose network namespace Toxiproxy listens, where the engine's processes are this machine's."""
    if not run.engine.on_this_machine:
        return None
    return int(run.engine.sdk.containers.get(f"{run.name}-toxiproxy").attrs["State"]["Pid"])


def _address_of(endpoint: Mapping[str, Any]) -> dict[str, Any]:
    return {"ipv4_address": endpoint["IPAMConfig"]["IPv4Address"]}


def _published(container: Any, block: ContainerBlock) -> Mapping[int, int]:
    return {port: int(container.ports[f"{port}/tcp"][0]["HostPort"]) for port in block.edge_ports()}
