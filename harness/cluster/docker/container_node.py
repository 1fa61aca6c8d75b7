"""One node: its container, the same for all its life, kills included; and what can be done to it."""

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.base import wait
from harness.cluster.docker import container_files
from harness.cluster.docker.engine import APIError
from harness.cluster.nodes import jvm_attach
from harness.cluster.nodes.node import title

ENDING = 10.0
STOPPING = 30.0
AGENTS = "/node/agents"
PID = 1  # of the JVM, as it knows it itself


@dataclass(slots=True, kw_only=True)
class ContainerNode:
    """A broker or the controller.

    :param number: Its node id.
    :param container: The docker SDK's object.
    :param log: What its JVM says, over all restarts.
    :param tmp: The JVM's ``/tmp`` on this machine, by which agents are loaded; None where the engine is elsewhere.
    :param reader: Writes the log while the JVM runs, and ends with it.
    :param agents: Those that were loaded into the JVM that runs now.
    """

    number: int
    container: Any
    log: Path
    tmp: Path | None
    paused: bool = False
    reader: threading.Thread | None = None
    agents: set[Path] = field(default_factory=set)

    @property
    def name(self) -> str:
        """As in file names and sentences: ``broker-1``."""
        return title(self.number)

    def start(self) -> None:
        """Start the JVM; it is not ready yet."""
        if self.tmp is not None:
            self.tmp.joinpath(f".java_pid{PID}").unlink(missing_ok=True)  # of the JVM that was killed
        said = self.container.attach(stream=True, logs=False)  # before the start, so that no word is lost
        self.container.start()
        self.reader = threading.Thread(target=_write, args=(said, self.log), daemon=True)
        self.reader.start()
        self.paused = False
        self.agents.clear()

    def running(self) -> bool:
        """False when it was killed, or ended by itself."""
        return self.reader is not None and self.reader.is_alive()

    def kill(self) -> None:
        """End it as ``kill -9`` does; returns when it is gone."""
        if self.running():
            with suppress(APIError):  # it ended in the meantime
                self.container.kill()
            self.container.wait(timeout=ENDING)
            self._reader().join(ENDING)

    def stop(self) -> None:
        """End it in good order; returns when it is gone.

        :raises NotInTime: When it is still there after :data:`STOPPING` seconds.
        """
        self.container.kill("SIGTERM")
        wait.until(lambda: not self.running(), what=f"the end of {self.name}", within=STOPPING, every=0.02)

    def pause(self) -> None:
        """Stop it from running."""
        self.container.kill("SIGSTOP")
        self.paused = True

    def resume(self) -> None:
        """Let it run again."""
        self.container.kill("SIGCONT")
        self.paused = False

    def load_agent(self, agent: Path, options: str) -> None:
        """Load a Java agent into the JVM, once in its life.

        :raises RuntimeError: When the engine is not on this machine, so that the JVM cannot be reached.
        """
        if agent in self.agents:
            return
        inside = Path(AGENTS, agent.name)
        container_files.put(self.container, {str(inside): agent})
        jvm_attach.load_agent(self._door(), inside, options)
        self.agents.add(agent)

    def _door(self) -> jvm_attach.AttachEndpoint:
        if self.tmp is None:
            raise RuntimeError(f"no agent can be loaded into {self.name}: its engine is not on this machine")
        return jvm_attach.AttachEndpoint(
            pid=PID, tmp=self.tmp, asking=self.tmp, quit=lambda: self.container.kill("SIGQUIT")
        )

    def _reader(self) -> threading.Thread:
        if self.reader is None:
            raise ValueError(f"{self.name} was never started")
        return self.reader


def _write(said: Any, log: Path) -> None:
    with log.open("ab", buffering=0) as out, suppress(OSError):  # the engine may go away; whoever asks it will say so
        for words in said:
            out.write(words)
        said._response.close()  # the stream's own close() leaves the connection's file open
