"""One broker as Kafka's own scripts start it: their JVM flags, their storage tool, Kafka's default settings.

The yardstick for start-up: a person with a tarball types ``kafka-storage.sh format`` and ``kafka-server-start.sh``.
"""

import subprocess
from pathlib import Path

from harness import wait
from harness.clock import RunClock
from harness.cluster.distribution import KafkaFiles
from harness.cluster.topology import Address
from harness.history.exchange import Exchange
from harness.wire.client import WireClient
from harness.wire.errors import WireError
from harness.wire.verbs.metadata import Metadata

ADDRESS, CONTROLLER = Address("127.0.250.1", 9092), Address("127.0.250.1", 9093)
SCRIPT_FLAGS = (
    # bin/kafka-server-start.sh and bin/kafka-run-class.sh of the official tarball
    *("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true"),
)
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
BOUND = 60.0


class Unrecorded:
    """A recorder that keeps nothing: the yardstick leaves no evidence."""

    def next_number(self) -> int:
        """Always 1; correlation ids need not differ, one question is asked at a time."""
        return 1

    def record(self, exchange: Exchange) -> None:
        """Forget it."""


def start_and_stop(java: str, files: KafkaFiles, folder: Path) -> None:
    """Format, start, wait until the broker lists itself, end."""
    settings = folder / "server.properties"
    settings.write_text(_settings(folder / "data"))
    command = [java, *SCRIPT_FLAGS, "-cp", ":".join(map(str, files.jars()))]
    with (folder / "node.log").open("wb") as log:
        format_ = [*command, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(settings)]
        subprocess.run(format_, check=True, stdout=log, stderr=log, timeout=BOUND)
        node = subprocess.Popen([*command, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
    try:
        wait.until(_lists_itself, what="the stock broker", within=BOUND, every=0.02)
    finally:
        node.kill()
        node.wait(BOUND)


def _lists_itself() -> bool:
    lane = {1: ADDRESS}
    client = WireClient(actor="bench", lane="observer", addresses=lane, clock=RunClock(), recorder=Unrecorded())
    try:
        return bool(client.call(1, Metadata(), within=2.0).result.brokers)
    except WireError:
        return False
    finally:
        client.close()


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
