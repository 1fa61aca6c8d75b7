"""One broker as Kafka's own scripts start it: their JVM flags, their storage tool, Kafka's default settings.

The yardstick for start-up: a person with a tarball types ``kafka-storage.sh format`` and ``kafka-server-start.sh``.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

from harness.base import wait
from harness.base.addresses import Address
from harness.cluster.distribution import KafkaFiles
from harness.cluster.nodes import readiness_probe

ADDRESS, CONTROLLER = Address("127.0.250.1", 9092), Address("127.0.250.1", 9093)
SCRIPT_FLAGS = (
    # bin/kafka-server-start.sh and bin/kafka-run-class.sh of the official tarball
    *("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true"),
)
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
BOUND_SECONDS = 60.0


def lists_itself() -> bool:
    """The broker answers Metadata and is in it."""
    return bool(readiness_probe.brokers(ADDRESS))


def first_transaction() -> bool:
    """The broker hands out a producer id for a transactional id: what our clusters are ready for."""
    return readiness_probe.coordinator(ADDRESS, "bench") is not None and readiness_probe.transaction_possible(
        ADDRESS, "bench"
    )


def start_and_stop(java: str, files: KafkaFiles, folder: Path, ready: Callable[[], bool]) -> None:
    """Format, start, wait until it is ready, end."""
    settings = folder / "server.properties"
    settings.write_text(_settings(folder / "data"))
    command = [java, *SCRIPT_FLAGS, "-cp", ":".join(map(str, files.jars()))]
    with (folder / "node.log").open("wb") as log:
        format_ = [*command, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(settings)]
        subprocess.run(format_, check=True, stdout=log, stderr=log, timeout=BOUND_SECONDS)
        node = subprocess.Popen([*command, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
    try:
        wait.until(ready, what="the stock broker", timeout_seconds=BOUND_SECONDS, interval_seconds=0.02)
    finally:
        node.kill()
        node.wait(BOUND_SECONDS)


def _settings(data: Path) -> str:
    return f"""\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{CONTROLLER}
listeners=PLAINTEXT://{ADDRESS},CONTROLLER://{CONTROLLER}
advertised.listeners=PLAINTEXT://{ADDRESS}
controller.listener.names=CONTROLLER
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.dirs={data}
"""
