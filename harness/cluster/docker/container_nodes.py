"""Makes the containers of a cluster's nodes, and puts their files into them; a node's data are a volume of its own.

So a node can go on in a container of another image, as an upgrade or a downgrade does.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cluster.cluster import ClusterOptions
from harness.cluster.docker import container_files, networks
from harness.cluster.docker.container_addresses import ContainerBlock
from harness.cluster.docker.container_node import ContainerNode
from harness.cluster.docker.container_releases import ContainerReleases, NodeImage
from harness.cluster.docker.engine import Mount
from harness.cluster.docker.image_start_cache import DATA, HOME, NODE, SETTINGS
from harness.cluster.docker.ownership import OwnedResources
from harness.cluster.nodes import node_properties
from harness.cluster.nodes.jvm_command import system_properties
from harness.cluster.nodes.node import title
from harness.cluster.nodes.storage import META, with_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerNodes:
    """Fills :class:`harness.cluster.owned_cluster.InstallRelease`.

    :param folder: The run's on this machine, for the nodes' ``/tmp``.
    :param block: The addresses, with the ports at which lanes are published.
    """

    run: OwnedResources
    folder: Path
    logs: Path
    releases: ContainerReleases
    options: ClusterOptions
    block: ContainerBlock

    def create(self, number: int) -> ContainerNode:
        """A node whose container and volume are made; no file is in them, and it does not run yet."""
        self.run.volume(self._named(number))
        tmp = self._tmp(number)
        container = self._container(number, self._image_of(number), tmp)
        return ContainerNode(number=number, container=container, log=self.logs / f"{title(number)}.log", tmp=tmp)

    def fill(self, node: ContainerNode, cluster_id: str) -> None:
        """Put in the node's formatted storage, and all other files that it starts with."""
        wished = self._image_of(node.number).storage
        storage = wished or container_files.get_files(node.container, str(HOME / "storage"))
        files: dict[str, bytes | Path] = {str(DATA / file): content for file, content in storage.items()}
        files[str(DATA / META)] = with_ids(storage[META].decode(), cluster_id, node.number).encode()
        container_files.put_files(node.container, files, (str(NODE), str(DATA)))
        self._put_settings(node)

    def fetch(self, release: str | None) -> None:
        self.releases.fetch(release)

    def install(self, node: ContainerNode, release: str | None) -> None:
        node.container.remove(force=True)
        node.container = self._container(node.number, self.releases.image(release), node.tmp)
        self._put_settings(node)

    def _image_of(self, number: int) -> NodeImage:
        return self.releases.image(self.options.releases.get(number))

    def _named(self, number: int) -> str:
        """A node's container, and its volume."""
        return f"{self.run.name}-{title(number)}"

    def _container(self, number: int, source: NodeImage, tmp: Path | None) -> Any:
        network = networks.network_name(self.run, number)
        endpoint = self.run.engine.sdk.api.create_endpoint_config(
            ipv4_address=self.block.node(number, 0).host, aliases=[f"node-{number}"]
        )
        flags = system_properties({"fencepost.node": title(number)})
        command = source.image.launch(self.options.jvm_options).command("kafka.Kafka", SETTINGS, flags=flags)
        return self.run.container(
            source.image.image,
            entrypoint=["java"],
            command=list(map(str, command[1:])),
            user=f"{os.getuid()}:{os.getgid()}",
            hostname=title(number),
            name=self._named(number),
            network=network,
            networking_config={network: endpoint},
            extra_hosts=dict(self.block.hosts(number)),
            mounts=self._mounts(number, tmp),
        )

    def _mounts(self, number: int, tmp: Path | None) -> list[Mount]:
        """The volume of its data; and where HotSpot opens its socket, where that is a folder of this machine."""
        shared = [] if tmp is None else [Mount("/tmp", str(tmp), type="bind")]  # noqa: S108
        return [Mount(str(DATA), self._named(number), type="volume", no_copy=True), *shared]

    def _tmp(self, number: int) -> Path | None:
        if not self.run.engine.on_this_machine:
            return None
        folder = self.folder / title(number)
        folder.mkdir()
        return folder

    def _put_settings(self, node: ContainerNode) -> None:
        """Put in the settings, and the files that the user's JVM options and extra listeners name."""
        own = self.options.properties_of(node.number)
        settings = node_properties.of_node(node.number, self.block, data=str(DATA), extra=own)
        extra = (value for listener in self.options.listeners for value in listener.properties.values())
        files: dict[str, bytes | Path] = {str(SETTINGS): node_properties.render(settings).encode()}
        container_files.put_files(
            node.container, {**files, **files_named_in((*self.options.jvm_options, *extra))}, (str(NODE),)
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
