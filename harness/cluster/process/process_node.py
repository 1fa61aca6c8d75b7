"""One node: its folder, its JVM, and what can be done to it."""

import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.base import wait
from harness.cluster.nodes import jvm_attach
from harness.cluster.nodes.jvm_command import Launch, named
from harness.cluster.nodes.node import title
from harness.cluster.nodes.node_properties import render
from harness.cluster.process import process_properties
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.machine.run_processes import RunProcesses

ENDING = 10.0
STOPPING = 30.0


@dataclass(slots=True, kw_only=True)
class ProcessNode:
    """A broker or the controller; the same folder and addresses for its life, kills included.

    :param number: Its node id.
    :param flags: JVM flags of this node alone: its hosts file, its name.
    :param log: What its JVM says, over all restarts.
    :param agents: Those that were loaded into the JVM that runs now.
    """

    number: int
    area: RunProcesses
    launch: Launch
    settings: Path
    flags: tuple[str, ...]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    paused: bool = False
    agents: set[Path] = field(default_factory=set)

    @property
    def name(self) -> str:
        """As in file names and sentences: ``broker-1``."""
        return title(self.number)

    def start(self) -> None:
        """Start the JVM; it is not ready yet."""
        command = self.launch.command("kafka.Kafka", self.settings, flags=self.flags)
        self.process = self.area.start(command, log=self.log)
        self.paused = False
        self.agents.clear()

    def running(self) -> bool:
        """False when it was killed, or ended by itself."""
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """End it as ``kill -9`` does; returns when it is gone."""
        process = self._process()
        process.kill()
        process.wait(ENDING)

    def stop(self) -> None:
        """End it in good order; returns when it is gone.

        :raises NotInTime: When it is still there after :data:`STOPPING` seconds.
        """
        self._process().terminate()
        wait.until(lambda: not self.running(), what=f"the end of {self.name}", within=STOPPING, every=0.02)

    def pause(self) -> None:
        """Stop it from running."""
        self._process().send_signal(signal.SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        """Let it run again."""
        self._process().send_signal(signal.SIGCONT)
        self.paused = False

    def load_agent(self, agent: Path, options: str) -> None:
        """Load a Java agent into the JVM, once in its life."""
        if agent not in self.agents:
            jvm_attach.load_agent(self._door(), agent, options)
            self.agents.add(agent)

    def _door(self) -> jvm_attach.AttachEndpoint:
        process = self._process()
        seen = Path(f"/proc/{process.pid}")
        return jvm_attach.AttachEndpoint(
            pid=process.pid,
            tmp=seen / "root" / "tmp",
            asking=seen / "cwd",
            quit=lambda: process.send_signal(signal.SIGQUIT),
        )

    def _process(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            raise ValueError(f"{self.name} was never started")
        return self.process


def prepared(
    number: int,
    *,
    area: RunProcesses,
    block: LoopbackBlock,
    launch: Launch,
    logs: Path,
    extra: Mapping[str, str],
) -> ProcessNode:
    """A node whose settings and hosts file are written; its storage is ``area.folder / name / "data"``."""
    folder = area.folder / title(number)
    settings, hosts = folder / "server.properties", folder / "hosts"
    settings.write_text(render(process_properties.of_node(block, number, folder / "data", extra)))
    hosts.write_text(process_properties.hosts(block, number))
    own = named({"jdk.net.hosts.file": hosts, "fencepost.node": title(number)})
    log = logs / f"{title(number)}.log"
    return ProcessNode(number=number, area=area, launch=launch, settings=settings, flags=tuple(own), log=log)
