"""The processes of a round's clients: which are running, what those that failed said, and that none is left over."""

import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

import psutil

from harness.base import wait
from harness.clients.stdio.adapter_process import AdapterProcess

SIGNAL_SECONDS = 5.0
"""Within which a signal that cannot be ignored must have had its effect."""


@dataclass(slots=True, kw_only=True, eq=False)
class RunningClient:
    """One process and the actor that it plays; fills :class:`harness.faults.running_clients.ClientProcess`.

    Its calls belong to the actor's thread; signals may come from another.

    :param opened: Whether it has answered ``open``; before that a fault would strike no client.
    :param killed: Whether it was ended on purpose; its failure is then nothing to tell.
    """

    actor: str
    adapter: AdapterProcess
    opened: bool = False
    killed: bool = False

    def kill(self) -> bool:
        if self.adapter.process.poll() is not None:
            return False
        self.killed = True
        self.adapter.signal(signal.SIGKILL)
        try:
            return self.adapter.process.wait(SIGNAL_SECONDS) == -signal.SIGKILL
        except subprocess.TimeoutExpired:
            return False

    def pause(self) -> bool:
        if not self._signal(signal.SIGSTOP):
            return False
        return wait.elapsed_ms_until(self._stopped, timeout_seconds=SIGNAL_SECONDS) is not None

    def resume(self) -> bool:
        return self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> bool:
        running = self.adapter.process.poll() is None
        if running:
            self.adapter.signal(number)
        return running

    def _stopped(self) -> bool:
        try:
            return psutil.Process(self.adapter.process.pid).status() == psutil.STATUS_STOPPED
        except psutil.NoSuchProcess:
            return False


@dataclass(slots=True)
class RunningClients:
    """Fills :class:`harness.faults.running_clients.ClientProcesses`; used from many threads.

    :param record: Takes the id of each process, so that it is ended also where Fencepost is killed.
    """

    record: Callable[[int], None] = lambda _: None
    _running: list[RunningClient] = field(default_factory=list)
    _failures: dict[str, list[str]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def running(self) -> Sequence[RunningClient]:
        with self._lock:
            found = [each for each in self._running if each.opened and each.adapter.process.poll() is None]
        return sorted(found, key=lambda each: each.actor)

    def add(self, client: RunningClient) -> None:
        self.record(client.adapter.process.pid)
        with self._lock:
            self._running.append(client)

    def remove(self, client: RunningClient) -> None:
        with self._lock, suppress(ValueError):  # after end_all() it is not there
            self._running.remove(client)

    def note(self, kind: str, sentence: str) -> None:
        """Keep what is to be told of a client that failed by itself."""
        with self._lock:
            self._failures.setdefault(kind, []).append("; ".join(sentence.split("\n  ")))

    def notes(self) -> Sequence[str]:
        """A sentence for each client that failed by itself: the first time, and how often more."""
        with self._lock:
            told = [(said[0], len(said) - 1) for said in self._failures.values()]
        return [f"{first} (and failed {more} more times)" if more else first for first, more in told]

    def end_all(self) -> None:
        """End those that are left, at once; their actors' threads are over."""
        with self._lock:
            left, self._running = self._running, []
        for client in left:
            client.killed = True
            client.adapter.kill()
