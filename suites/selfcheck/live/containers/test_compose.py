"""The topology for a person, by the compose file: it comes up, and is judged as anybody's cluster is."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base import wait
from harness.base.addresses import Address
from harness.base.paths import COMPOSE
from harness.base.user_error import ExitCode
from harness.cluster.docker import images
from harness.cluster.docker.container_addresses import lane_port
from harness.cluster.nodes import readiness_probe
from harness.cluster.nodes.readiness import PROBE_ID
from harness.cluster.target import Released
from harness.cluster.topology import BROKERS
from suites.selfcheck.fixtures.engines import engine
from suites.selfcheck.fixtures.skips import Missing, skip_missing

pytestmark = pytest.mark.live

THREE = "KIP890-VERIFY-01,KIP890-BUMP-01,KIP890-RETRY-01"
PROJECT = f"fencepost-selfcheck-{os.getpid()}"
OBSERVER = {broker: Address("127.0.0.1", lane_port("observer", broker)) for broker in BROKERS}


@pytest.fixture
def by_compose() -> Iterator[None]:
    """The compose file's cluster, ready, from images that the backend would take."""
    with engine() as found:
        kafka = images.kafka_image(found, Released("4.3.1"), print).reference
        toxiproxy = images.toxiproxy_image(found, print).reference
    chosen = {**os.environ, "KAFKA_IMAGE": kafka, "TOXIPROXY_IMAGE": toxiproxy}
    compose("up", "-d", environment=chosen)
    try:
        wait.until(ready, what="a first transaction", timeout_seconds=90, interval_seconds=0.2)
        yield
    finally:
        compose("down", "-v", "-t", "1", environment=chosen)


def ready() -> bool:
    """As clusters of the backends are when they are handed out: all brokers there, a transaction possible."""
    if any(readiness_probe.brokers(address) != OBSERVER for address in OBSERVER.values()):
        return False
    found = readiness_probe.coordinator(OBSERVER[1], PROBE_ID)
    return found is not None and readiness_probe.transaction_possible(OBSERVER[found], PROBE_ID)


def compose(*words: str, environment: dict[str, str]) -> None:
    """The old program where it is there, else the engine's own."""
    if old := shutil.which("docker-compose"):
        program = [old]
    elif shutil.which("docker") and not subprocess.run(["docker", "compose", "version"], check=False).returncode:
        program = ["docker", "compose"]
    else:
        skip_missing(Missing.COMPOSE, remedy="apt install docker-compose")
    file = str(COMPOSE / "docker-compose.yml")
    subprocess.run([*program, "-p", PROJECT, "-f", file, *words], env=environment, check=True, timeout=180)


@pytest.mark.usefixtures("by_compose")
def test_three_requirements_hold_on_it_as_on_anybodys_cluster(tmp_path: Path) -> None:
    target = "external:" + ",".join(map(str, OBSERVER.values()))
    command = [sys.executable, "-m", "harness", "qualify", target, "--select", THREE]
    ran = subprocess.run(
        [*command, "--report-dir", str(tmp_path / "run")], capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == ExitCode.KEPT, ran.stdout + ran.stderr
    assert "keeps all 3 promises" in ran.stdout
