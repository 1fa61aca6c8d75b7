"""The process backend on real brokers: no broker goes round a proxy. Needs Java; starts a cluster of its own."""

from pathlib import Path

import psutil
import pytest

from harness.cluster.cluster import ClusterOptions
from harness.cluster.opening import open_cluster
from harness.cluster.owned_cluster import OwnedCluster
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.cluster.process.process_node import ProcessNode
from harness.cluster.target import Released
from harness.cluster.topology import BROKERS, CONTROLLER

pytestmark = pytest.mark.live

EPHEMERAL = 32768  # ours are below: a connection from a port above is one that the process opened


def test_no_broker_goes_round_a_proxy(tmp_path: Path) -> None:
    options = ClusterOptions()
    cluster = open_cluster(
        Released("4.3.1"), backend="process", options=options, run_dir=tmp_path, progress=lambda _: None
    )
    try:
        assert isinstance(cluster, OwnedCluster)
        for source in BROKERS:
            assert_goes_through_proxies(cluster, source)
    finally:
        cluster.close()


def assert_goes_through_proxies(cluster: OwnedCluster[ProcessNode, LoopbackBlock], source: int) -> None:
    """Everything that a broker connects to is a proxy of a link from that very broker."""
    process = cluster.nodes[source].process
    assert process is not None
    connections = psutil.Process(process.pid).net_connections("tcp")
    opened_by_it = (c for c in connections if c.status == "ESTABLISHED" and c.laddr.port >= EPHEMERAL)
    targets = {c.raddr.ip.removeprefix("::ffff:") for c in opened_by_it}
    assert cluster.block.link(source, CONTROLLER).host in targets
    assert targets <= {cluster.block.link(source, other).host for other in (*BROKERS, CONTROLLER)}
