"""The process backend on real brokers: brokers connect only to proxies. Needs Java; starts a cluster of its own."""

from contextlib import closing
from pathlib import Path

import psutil
import pytest

from harness.cluster.owned_cluster import OwnedCluster
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.cluster.process.process_node import ProcessNode
from harness.cluster.topology import BROKERS, CONTROLLER
from suites.selfcheck.fixtures.live_clients import process_cluster

pytestmark = pytest.mark.live

EPHEMERAL = 32768  # ours are below: a connection from a port above is one that the process opened


def test_brokers_connect_only_to_their_own_proxies(tmp_path: Path) -> None:
    with closing(process_cluster("4.3.1", tmp_path)) as cluster:
        assert isinstance(cluster, OwnedCluster)
        for source in BROKERS:
            assert_goes_through_proxies(cluster, source)


def assert_goes_through_proxies(cluster: OwnedCluster[ProcessNode, LoopbackBlock], source: int) -> None:
    """Everything that a broker connects to is a proxy of a link from that very broker."""
    process = cluster.nodes[source].process
    assert process is not None
    connections = psutil.Process(process.pid).net_connections("tcp")
    opened_by_it = (c for c in connections if c.status == "ESTABLISHED" and c.laddr.port >= EPHEMERAL)
    targets = {c.raddr.ip.removeprefix("::ffff:") for c in opened_by_it}
    assert cluster.block.link(source, CONTROLLER).host in targets
    assert targets <= {cluster.block.link(source, other).host for other in (*BROKERS, CONTROLLER)}
