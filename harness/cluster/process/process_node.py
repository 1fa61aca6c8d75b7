"""A node as a local process: its folder, its JVM, and what can be done to it."""

import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.base import wait
from harness.cluster.nodes import jvm_attach
from harness.cluster.nodes.jvm_command import Launch, system_properties
from harness.cluster.nodes.node import title
from harness.cluster.nodes.node_properties import of_node, render
from harness.cluster.process.hosts_file import hosts_file
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.machine.disk_filling import fill_disk_of
from harness.machine.run_processes import RunProcesses

KILL_SECONDS = 10.0
STOP_SECONDS = 30.0


@dataclass(slots=True, kw_only=True)
class ProcessNode:
    """Fills :class:`harness.cluster.nodes.node.Node`; keeps its folder and addresses over kills.

    :param number: Its node id.
    :param flags: JVM flags of this node alone: its hosts file, its name.
    :param log: Its JVM's output, over all restarts.
    :param agents: The agents that were loaded into the JVM that runs now.
    """

    number: int
    processes: RunProcesses
    launch: Launch
    settings: Path
    flags: tuple[str, ...]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    paused: bool = False
    agents: set[Path] = field(default_factory=set)

    @property
    def name(self) -> str:
        return title(self.number)

    def start(self) -> None:
        command = self.launch.command("kafka.Kafka", self.settings, flags=self.flags)
        self.process = self.processes.start(command, log=self.log)
        self.paused = False
        self.agents.clear()

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        process = self._process()
        process.kill()
        process.wait(KILL_SECONDS)

    def stop(self) -> None:
        self._process().terminate()
        wait.until(
            lambda: not self.running(),
            what=f"the end of {self.name}",
            timeout_seconds=STOP_SECONDS,
            interval_seconds=0.02,
        )

    def pause(self) -> None:
        self._process().send_signal(signal.SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        self._process().send_signal(signal.SIGCONT)
        self.paused = False

    def fill_disk(self) -> None:
        fill_disk_of(self._process().pid)

    def load_agent(self, agent: Path, options: str) -> None:
        if agent not in self.agents:
            jvm_attach.load_agent(self._attach_endpoint(), agent, options)
            self.agents.add(agent)

    def _attach_endpoint(self) -> jvm_attach.AttachEndpoint:
        process = self._process()
        proc = Path(f"/proc/{process.pid}")
        return jvm_attach.AttachEndpoint(
            pid=process.pid,
            tmp=proc / "root" / "tmp",
            request_folder=proc / "cwd",
            send_quit=lambda: process.send_signal(signal.SIGQUIT),
        )

    def _process(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            raise ValueError(f"{self.name} was never started")
        return self.process


def prepare_node(
    number: int,
    *,
    processes: RunProcesses,
    block: LoopbackBlock,
    launch: Launch,
    logs: Path,
    extra: Mapping[str, str],
) -> ProcessNode:
    """A node whose settings and hosts file are written; its storage is ``processes.folder / name / "data"``."""
    folder = processes.folder / title(number)
    settings, hosts = folder / "server.properties", folder / "hosts"
    settings.write_text(render(of_node(number, block, data=str(folder / "data"), extra=extra)))
    hosts.write_text(hosts_file(block, number))
    own = system_properties({"jdk.net.hosts.file": hosts, "fencepost.node": title(number)})
    log = logs / f"{title(number)}.log"
    return ProcessNode(number=number, processes=processes, launch=launch, settings=settings, flags=tuple(own), log=log)
