"""An application that does transactions for as long as something else happens, and begins anew where it is over."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Unpack

from harness.base import wait
from harness.lab.clients.application import Application
from harness.lab.clients.client_lab import ClientLab, Settings
from harness.lab.clients.transact import transact
from harness.lab.partition import Partition

PAUSE_SECONDS = 0.1
"""Between transactions, so that evidence stays small."""
EVERY = 4
"""Each fourth transaction is aborted."""
MORE_SECONDS = 30.0
"""Within which a client must have come so far that it commits again."""


@dataclass(slots=True, kw_only=True)
class AtWork:
    """One transactional id at work: its instances are ``work``, ``work 2``; its transactions ``work transaction 1`` ….

    :param commits: How many were reported as done.
    """

    lab: ClientLab
    name: str
    partition: Partition
    settings: Settings
    commits: int = 0
    transactions: int = 0
    instances: list[Application] = field(default_factory=list)
    _enough: threading.Event = field(default_factory=threading.Event)

    def go_on(self) -> None:
        """Until :meth:`stop`."""
        while not self._enough.wait(PAUSE_SECONDS):
            self._one_more(self.instances[-1])

    def stop(self) -> None:
        """After the transaction that is under way."""
        self._enough.set()

    def commits_more(self, count: int = 2) -> None:
        """Wait, bounded, until so many more are committed; the check judges where they are not."""
        wanted = self.commits + count
        wait.elapsed_ms_until(lambda: self.commits >= wanted, timeout_seconds=MORE_SECONDS)

    def begin(self) -> None:
        """Another instance of the same id; one that cannot be initialised is tried like any other, and replaced."""
        number = len(self.instances) + 1
        name = self.name if number == 1 else f"{self.name} {number}"
        before = self.instances[0] if self.instances else None
        made = self.lab.application(name, same_id=before, **self.settings)
        self.instances.append(made)
        made.init(as_=f"{name} init")

    def _one_more(self, application: Application) -> None:
        self.transactions += 1
        aborts = self.transactions % EVERY == 0
        name = f"{self.name} transaction {self.transactions}"
        done = transact(application, name, self.partition, ending="abort" if aborts else "commit").done
        self.commits += done and not aborts
        if not done and not self._works(application):
            application.close()
            self.begin()

    def _works(self, application: Application) -> bool:
        """Whether it lets another transaction begin, which is aborted; after a fatal error no library does."""
        begun = application.begin(as_="trial begin").done
        return begun and application.abort(as_="trial abort").done


@contextmanager
def at_work(lab: ClientLab, name: str, partition: Partition, **settings: Unpack[Settings]) -> Iterator[AtWork]:
    """Work in the background for the length of the block; :raises Unprepared: when its program ended."""
    working = AtWork(lab=lab, name=name, partition=partition, settings=settings)
    working.begin()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(working.go_on)
        try:
            yield working
        finally:
            working.stop()
        future.result()
