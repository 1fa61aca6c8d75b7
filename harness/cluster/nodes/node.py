"""A node and its addresses as readiness and agents see them, whether it is a process or a container."""

from pathlib import Path
from typing import Protocol

from harness.base.addresses import Address, Lane
from harness.cluster.topology import CONTROLLER


class Node(Protocol):
    """A broker or the controller."""

    @property
    def number(self) -> int:
        """Its node id."""
        ...

    @property
    def name(self) -> str:
        """As in file names and sentences: ``broker-1``."""
        ...

    @property
    def log(self) -> Path:
        """What its JVM said up to now, over all restarts."""
        ...

    @property
    def paused(self) -> bool:
        """Whether it was stopped from running."""
        ...

    def running(self) -> bool:
        """False when it was killed, or ended by itself."""
        ...

    def load_agent(self, agent: Path, options: str) -> None:
        """Load a Java agent into the JVM, once in its life."""
        ...


class NodeAddresses(Protocol):
    """Who is where."""

    def node(self, node: int, port: int) -> Address:
        """Where a node itself listens, as seen by itself and from this machine."""
        ...

    def lane(self, lane: Lane, broker: int) -> Address:
        """Where clients of a lane reach a broker."""
        ...


def title(number: int) -> str:
    """A node's name for people and files."""
    return f"controller-{number}" if number == CONTROLLER else f"broker-{number}"
