"""A cluster of local JVMs, which alone can start a node's data again with the jars of another release."""

from dataclasses import dataclass

from harness.cluster.nodes import readiness
from harness.cluster.owned_cluster import OwnedCluster
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.cluster.process.process_node import ProcessNode
from harness.cluster.process.process_releases import NodeReleases


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessCluster(OwnedCluster[ProcessNode, LoopbackBlock]):
    """Offers every power."""

    releases: NodeReleases

    def run_release(self, node: int, release: str | None) -> None:
        """Fills :class:`harness.cluster.cluster.RunRelease`; rules are loaded again where they fit."""
        changed = self.nodes[node]
        launch = self.releases.launch(release)
        if changed.running():
            changed.stop()
        changed.launch = launch
        changed.start()
        readiness.await_restarted(changed, self.nodes.values(), self.block)
        if release is None:
            self.failpoints.load_again(changed)
