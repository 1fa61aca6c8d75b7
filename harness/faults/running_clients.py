"""Clients that are processes of their own, as faults see them: a port that :mod:`harness.clients.stdio` fills."""

from collections.abc import Sequence
from typing import Protocol


class ClientProcess(Protocol):
    """One running client."""

    @property
    def actor(self) -> str:
        """Its name in the history."""

    def kill(self) -> bool:
        """End it as by ``kill -9``, and see that it has ended; False where it had ended already."""

    def pause(self) -> bool:
        """Stop it (SIGSTOP), and see that it is stopped; False where it has ended."""

    def resume(self) -> bool:
        """Let it go on (SIGCONT); False where it has ended."""


class ClientProcesses(Protocol):
    """All of a round."""

    def running(self) -> Sequence[ClientProcess]:
        """Those that have answered ``open`` and not ended, in the order of their actors' names."""
