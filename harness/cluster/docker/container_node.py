"""A node as a container, which stays the same over kills, and what can be done to it."""

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.base import wait
from harness.base.unprepared import OutOfReach
from harness.cluster.docker import container_files
from harness.cluster.docker.engine import APIError
from harness.cluster.nodes import jvm_attach
from harness.cluster.nodes.node import title
from harness.machine.disk_filling import fill_disk_of

KILL_SECONDS = 10.0
STOP_SECONDS = 30.0
AGENTS_FOLDER = "/node/agents"
PID = 1  # of the JVM, in its own namespace


@dataclass(slots=True, kw_only=True)
class ContainerNode:
    """Fills :class:`harness.cluster.nodes.node.Node`.

    :param number: Its node id.
    :param container: The docker SDK's object.
    :param log: Its JVM's output, over all restarts.
    :param tmp: The JVM's ``/tmp`` on this machine, by which agents are loaded; None where the engine is remote.
    :param log_writer: The thread that writes the log while the JVM runs, and ends with it.
    :param agents: The agents that were loaded into the JVM that runs now.
    """

    number: int
    container: Any
    log: Path
    tmp: Path | None
    paused: bool = False
    log_writer: threading.Thread | None = None
    agents: set[Path] = field(default_factory=set)

    @property
    def name(self) -> str:
        return title(self.number)

    def start(self) -> None:
        if self.tmp is not None:
            self.tmp.joinpath(f".java_pid{PID}").unlink(missing_ok=True)  # of the JVM that was killed
        output = self.container.attach(stream=True, logs=False)  # before the start, so that nothing is missed
        self.container.start()
        self.log_writer = threading.Thread(target=_write, args=(output, self.log), daemon=True)
        self.log_writer.start()
        self.paused = False
        self.agents.clear()

    def running(self) -> bool:
        return self.log_writer is not None and self.log_writer.is_alive()

    def kill(self) -> None:
        if self.running():
            with suppress(APIError):  # it ended in the meantime
                self.container.kill()
            self.container.wait(timeout=KILL_SECONDS)
            self._started_log_writer().join(KILL_SECONDS)

    def stop(self) -> None:
        self.container.kill("SIGTERM")
        wait.until(
            lambda: not self.running(),
            what=f"the end of {self.name}",
            timeout_seconds=STOP_SECONDS,
            interval_seconds=0.02,
        )

    def pause(self) -> None:
        self.container.kill("SIGSTOP")
        self.paused = True

    def resume(self) -> None:
        self.container.kill("SIGCONT")
        self.paused = False

    def fill_disk(self) -> None:
        """As of a process: no file may be longer than nothing; :raises OutOfReach: when the engine is elsewhere."""
        if self.tmp is None:
            raise OutOfReach(f"writes of {self.name} cannot be let fail: its engine is not on this machine")
        self.container.reload()
        fill_disk_of(int(self.container.attrs["State"]["Pid"]))

    def load_agent(self, agent: Path, options: str) -> None:
        """Load a Java agent into the JVM, once in its life.

        :raises RuntimeError: When the engine is not on this machine, so that the JVM cannot be reached.
        """
        if agent in self.agents:
            return
        inside = Path(AGENTS_FOLDER, agent.name)
        container_files.put_files(self.container, {str(inside): agent})
        jvm_attach.load_agent(self._attach_endpoint(), inside, options)
        self.agents.add(agent)

    def _attach_endpoint(self) -> jvm_attach.AttachEndpoint:
        if self.tmp is None:
            raise RuntimeError(f"no agent can be loaded into {self.name}: its engine is not on this machine")
        return jvm_attach.AttachEndpoint(
            pid=PID, tmp=self.tmp, request_folder=self.tmp, send_quit=lambda: self.container.kill("SIGQUIT")
        )

    def _started_log_writer(self) -> threading.Thread:
        if self.log_writer is None:
            raise ValueError(f"{self.name} was never started")
        return self.log_writer


def _write(output: Any, log: Path) -> None:
    with log.open("ab", buffering=0) as file, suppress(OSError):  # the engine may go away; the next request reports it
        for part in output:
            file.write(part)
        output._response.close()  # the stream's own close() leaves the connection's file open
