"""Chaos on a cluster that is not ours: over TLS and SASL, behind mapped ports, interrupted; nothing of it stays there.

Starts clusters of its own, and treats them as somebody else's.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base import wait
from harness.base.addresses import Address
from harness.base.user_error import ExitCode
from harness.cluster.cluster import Cluster, ClusterOptions
from harness.cluster.opening import open_cluster
from harness.cluster.process.loopback_addresses import LoopbackBlock, claim_block
from harness.cluster.run_options import PREFIX
from harness.cluster.target import Released
from harness.cluster.topology import ExtraListener
from harness.cluster.toxiproxy import Proxy, ToxiproxyLinks
from harness.wire.requests.cluster.metadata import Metadata
from suites.selfcheck.fixtures.chaos_command import anomalies, chaos, rounds, struck
from suites.selfcheck.fixtures.live_clients import observer
from suites.selfcheck.fixtures.secured_cluster import PASSWORD, SASL_SSL, SecuredCluster, login, secured_cluster

pytestmark = pytest.mark.live

NOBODY = 9
"""A port on which nobody listens; there brokers behind mapped ports say that they are."""
MAPPED = ExtraListener(name="MAPPED", protocol="PLAINTEXT", advertised_port=NOBODY)
BEGUN_SECONDS = 120.0


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredCluster]:
    """Three brokers whose listeners ask for TLS and SASL."""
    with secured_cluster(tmp_path_factory.mktemp("secured"), brokers=3) as made:
        yield made


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, str]]:
    """Three brokers behind proxies that they do not know of, and the target that names the proxies."""
    block = claim_block()
    cluster = open_cluster(
        Released("4.3.1"),
        backend="process",
        options=ClusterOptions(listeners=(MAPPED,)),
        run_dir=tmp_path_factory.mktemp("mapped"),
        progress=lambda _: None,
    )
    try:
        proxies = list(in_front(cluster, block))
        assert isinstance(cluster.links, ToxiproxyLinks)
        cluster.links.create(proxies)
        yield cluster, f"external:{','.join(str(proxy.listen) for proxy in proxies)}"
    finally:
        cluster.close()
        block.guard.close()


def in_front(cluster: Cluster, block: LoopbackBlock) -> Iterator[Proxy]:
    """A proxy for each broker, as a container engine or a firewall maps a port."""
    for broker, address in cluster.topology.listeners[MAPPED.name].items():
        yield Proxy(name=f"mapped-{broker}", listen=Address(block.host(10 + broker), 19092), upstream=address)


def of_ours(cluster: Cluster) -> list[str]:
    """Topics that a session has left."""
    client = observer(cluster)
    try:
        known = client.call(cluster.topology.brokers[0], Metadata(topics=None)).result.topics
        return [name for name in known if name.startswith(PREFIX)]
    finally:
        client.close()


def test_over_tls_and_sasl_lanes_and_frames_strike_and_nothing_stays(secured: SecuredCluster, tmp_path: Path) -> None:
    properties = str(secured.client("chaos", SASL_SSL, login("SCRAM-SHA-512")))
    done = chaos(
        tmp_path / "run",
        secured.target("SASL"),
        *("--client-properties", properties),
        *("--scenarios", "relay-rebalances,transfer-through-crashes,late-produce-v2"),
        *("--seconds", "20", "--seed", "1"),
    )
    assert done.returncode == ExitCode.KEPT, done.stdout + done.stderr
    played = rounds(tmp_path / "run")
    assert [round_["conclusion"] for round_ in played.values()] == ["HOLDS", "OUT_OF_REACH", "HOLDS"]
    assert {"reset", "lost-response"} <= set(struck(played["relay-rebalances"]))
    assert {"late-produce", "late-end-txn"} <= set(struck(played["late-produce-v2"]))
    assert "out of reach: pause: the brokers are not ours to stop" in done.stderr
    assert of_ours(secured.cluster) == []
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []


def test_behind_mapped_ports_every_client_stays_on_its_lane(mapped: tuple[Cluster, str], tmp_path: Path) -> None:
    """Wherever a client follows a broker's own address, it finds nobody, and the round does not hold."""
    cluster, target = mapped
    done = chaos(tmp_path / "run", target, "--scenarios", "relay-rebalances", "--seconds", "10")
    assert done.returncode == ExitCode.KEPT, done.stdout + done.stderr
    assert anomalies(tmp_path / "run") == set()
    assert struck(rounds(tmp_path / "run")["relay-rebalances"])
    assert of_ours(cluster) == []


def test_an_interrupt_leaves_nothing_on_the_cluster(secured: SecuredCluster, tmp_path: Path) -> None:
    plain = ",".join(map(str, secured.cluster.topology.lanes["observer"].values()))
    words = ["chaos", f"external:{plain}", "--scenarios", "relay-on-the-wire", "--seconds", "60"]
    command = [sys.executable, "-m", "harness", *words, "--report-dir", str(tmp_path / "run")]
    with subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as running:
        wait.until(
            lambda: of_ours(secured.cluster), what="topics of ours", timeout_seconds=BEGUN_SECONDS, interval_seconds=0.5
        )
        running.send_signal(signal.SIGINT)
        assert running.wait(BEGUN_SECONDS) == ExitCode.INTERRUPTED
    assert of_ours(secured.cluster) == []
