"""A node, whether it is a process or a container: what a cluster, readiness and agents do with it."""

from pathlib import Path
from typing import Protocol

from harness.cluster.topology import CONTROLLERS


class Node(Protocol):
    """A broker or the controller; it keeps its data and its addresses when it is killed and started again."""

    @property
    def number(self) -> int:
        """Its node id."""

    @property
    def name(self) -> str:
        """As in file names and sentences: ``broker-1``."""

    @property
    def log(self) -> Path:
        """The file of its JVM's output, over all restarts."""

    @property
    def paused(self) -> bool:
        """Whether it was stopped by SIGSTOP."""

    def start(self) -> None:
        """Start the JVM; it is not ready yet."""

    def running(self) -> bool:
        """False when it was killed, or ended by itself."""

    def kill(self) -> None:
        """SIGKILL; returns when it is gone."""

    def stop(self) -> None:
        """SIGTERM; returns when it is gone; :raises TimedOut: when it is not after its bound."""

    def pause(self) -> None:
        """SIGSTOP."""

    def resume(self) -> None:
        """SIGCONT."""

    def fill_disk(self) -> None:
        """Let every write to a file fail until it is started again; :raises OutOfReach: where it is not ours to do."""

    def load_agent(self, agent: Path, options: str) -> None:
        """Load a Java agent into the JVM, once in its life."""


def title(number: int) -> str:
    """A node's name for people and files."""
    return f"controller-{number}" if number in CONTROLLERS else f"broker-{number}"
