"""The Kafkas that the nodes of one cluster run: the target, and other releases for single nodes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.cluster import distribution
from harness.cluster.distribution import KafkaFiles
from harness.cluster.nodes.jvm_command import Launch
from harness.cluster.nodes.storage import Format
from harness.cluster.process.loopback_addresses import LoopbackBlock, claim_block
from harness.cluster.process.process_node import ProcessNode
from harness.cluster.process.process_start_cache import StartCache, format_otherwise, make_start_cache
from harness.cluster.target import Released
from harness.machine.run_processes import RunProcesses
from harness.machine.toolchain import Java


@dataclass(slots=True, kw_only=True)
class NodeReleases:
    """Fills :class:`harness.cluster.owned_cluster.InstallRelease`; None stands for the target.

    :param own: The target's files.
    :param jvm_options: Of every node.
    :param formatted: How storage is formatted.
    """

    own: KafkaFiles
    java: Java
    processes: RunProcesses
    logs: Path
    jvm_options: tuple[str, ...]
    formatted: Format
    progress: Callable[[str], None]
    _made: dict[str | None, tuple[KafkaFiles, StartCache]] = field(default_factory=dict)

    def prepare(self, release: str | None, block: LoopbackBlock) -> None:
        """Bring in the release and make its start cache, on the addresses of a cluster that does not run yet.

        :raises UserError: When there is no such release, or its tool refuses the format that is wished.
        """
        if release in self._made:
            return
        files = self.own if release is None else distribution.released(Released(release), self.progress)
        given = files, self.java, self.processes, block, self.logs
        wish = self.formatted if release is None else self.formatted.of_another_release()
        self._made[release] = files, format_otherwise(make_start_cache(*given, self.progress), *given, wish)

    def storage(self, release: str | None) -> StartCache:
        """What a node's storage is formatted from."""
        return self._made[release][1]

    def plain_launch(self) -> Launch:
        """What a tool of the target starts with: without the options of nodes."""
        files, cache = self._made[None]
        return cache.launch(files, self.java, ())

    def fetch(self, release: str | None) -> None:
        """A release that was not prepared yet is prepared on addresses of its own."""
        if release not in self._made:
            with _addresses() as block:
                self.prepare(release, block)

    def install(self, node: ProcessNode, release: str | None) -> None:
        node.launch = self.launch(release)

    def launch(self, release: str | None) -> Launch:
        """What a node of a release that was prepared starts with."""
        files, cache = self._made[release]
        return cache.launch(files, self.java, self.jvm_options)


@contextmanager
def _addresses() -> Iterator[LoopbackBlock]:
    block = claim_block()
    try:
        yield block
    finally:
        block.guard.close()
