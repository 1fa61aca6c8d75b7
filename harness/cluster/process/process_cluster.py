"""A cluster of local JVMs, which alone can start a node's data again with the jars of another release."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.user_error import UserError
from harness.cluster.nodes import readiness
from harness.cluster.owned_cluster import OwnedCluster
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.cluster.process.process_node import ProcessNode
from harness.cluster.process.process_releases import NodeReleases


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessCluster(OwnedCluster[ProcessNode, LoopbackBlock]):
    """Offers every power.

    :param first: The releases of nodes that were started with another one than the target's.
    :param now: Those that were started with another release since.
    """

    releases: NodeReleases
    first: Mapping[int, str]
    now: dict[int, str | None] = field(default_factory=dict)

    def run_release(self, node: int, release: str | None, *, timeout_seconds: float | None = None) -> None:
        """Fills :class:`harness.cluster.cluster.RunRelease`; rules are for the target alone."""
        changed = self.nodes[node]
        launch = self.releases.launch(release)
        if changed.running():
            changed.stop()
        changed.launch = launch
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

    def fill_disk(self, node: int) -> None:
        """See :class:`harness.cluster.cluster.FillDisk`."""
        self.nodes[node].fill_disk()

    def ended(self, node: int) -> bool:
        """See :class:`harness.cluster.cluster.FillDisk`."""
        return not self.nodes[node].running()

    def started_with(self, node: int) -> str | None:
        """See :class:`harness.cluster.cluster.RunRelease`."""
        return self.first.get(node)

    def altered(self) -> bool:
        """See :class:`harness.cluster.cluster.RunRelease`."""
        return any(release != self.first.get(node) for node, release in self.now.items())
