"""Brokers taken away for the length of a block: paused, stopped in good order, or killed, and all as before after it.

«As before» is: the broker is registered, every replica is in sync, and every partition is led by its first replica, so
that who comes next meets the cluster that it expects; also after an error. Each window is noted as a fault, which ends
when the broker begins to come back.

A broker that is away for longer than ``broker.session.timeout.ms`` (2 s here) is fenced: others lead what it led. Until
then it is asked in vain. A stimulus that wants the first waits for it with :meth:`Nodes.await_fenced`; one that wants
the second is done sooner, or holds a link in place of the whole broker.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from harness.base import wait
from harness.base.unprepared import OutOfReach
from harness.cluster.cluster import Cluster, Kill, Pause, Stop
from harness.contract import Access
from harness.evidence.requirement_evidence import Fault
from harness.kafka.leaders.brokers_view import BrokersView
from harness.kafka.leaders.moving import elect_preferred

FENCED_SECONDS = 10.0
"""Within which a broker that is gone must have been fenced: its session and the controller's check."""
AS_BEFORE_SECONDS = 10.0
"""Within which every partition must be led by its first replica, once all are in sync."""


@dataclass(slots=True, kw_only=True)
class Nodes:
    """See the module's docstring.

    :param away: How each broker comes back that is away now.
    """

    cluster: Cluster
    view: BrokersView
    now: Callable[[], float]
    faults: list[Fault]
    accessed: set[Access]
    away: dict[int, Callable[[], None]] = field(default_factory=dict)

    def paused(self, node: int, *, name: str = "paused") -> AbstractContextManager[None]:
        """The broker's process is suspended for the block; :raises OutOfReach: when it is not ours."""
        cluster = self.cluster
        if not isinstance(cluster, Pause):
            raise self._not_ours()
        return self._taken(node, name, "pause", lambda: cluster.pause(node), lambda: cluster.resume(node))

    def stopped(
        self, node: int, *, name: str = "stopped", meanwhile: Callable[[], object] | None = None
    ) -> AbstractContextManager[None]:
        """The broker is shut down as an operator does it, its leaderships handed over, and started after the block.

        :param meanwhile: Called again and again while it shuts down, and once more after that.
        :raises TimedOut: When it does not end; it is killed then, and started again.
        """
        cluster, killing = self.cluster, self._killing()
        if not isinstance(cluster, Stop):
            raise self._not_ours()

        def stop() -> None:
            try:
                _beside(lambda: cluster.stop(node), meanwhile)
            except wait.TimedOut:
                killing.kill(node)
                raise

        return self._taken(node, name, "stop", stop, lambda: killing.restart(node))

    def killed(self, node: int, *, name: str = "killed") -> AbstractContextManager[None]:
        """The broker is ended as ``kill -9`` does it, and started again after the block."""
        cluster = self._killing()
        return self._taken(node, name, "kill", lambda: cluster.kill(node), lambda: cluster.restart(node))

    def restart(self, node: int, *, clean: bool = True, name: str = "restart") -> None:
        """Stopped in good order, or killed, and at once started again; returns when all is as before."""
        with self.stopped(node, name=name) if clean else self.killed(node, name=name):
            pass

    def await_fenced(self, node: int) -> None:
        """Wait until no other broker lists this one; :raises TimedOut: when it still does after the bound."""
        wait.until(
            lambda: self.view.fenced(node),
            what=f"the end of broker {node}'s session",
            timeout_seconds=FENCED_SECONDS,
            interval_seconds=0.05,
        )

    def heal(self) -> None:
        """Bring back whoever is away; nothing where nobody is.

        :raises TimedOut: When a broker is not back, or not all is as before, within the bounds.
        """
        back = list(self.away)
        for node in back:
            self.away.pop(node)()
        for node in back:
            self.view.await_registered(node)
        if back:
            self.lead_as_before()

    def lead_as_preferred(self) -> None:
        """:meth:`lead_as_before`, where that is not so already."""
        if not self.view.as_preferred():
            self.lead_as_before()

    def lead_as_before(self) -> None:
        """Have every partition led by its first replica again; :raises TimedOut: when it is not within the bounds."""
        elect_preferred(self.view)
        wait.until(self._as_before, what="leaders as before", timeout_seconds=AS_BEFORE_SECONDS, interval_seconds=0.2)

    @contextmanager
    def _taken(
        self, node: int, name: str, kind: str, take: Callable[[], None], back: Callable[[], None]
    ) -> Iterator[None]:
        self.accessed.add(Access.NODES)
        started = self.now()
        self.away[node] = back
        try:
            take()
            yield
        finally:
            ended = self.now()
            self.heal()
            self.faults.append(Fault(name=name, kind=kind, where=f"broker-{node}", started=started, ended=ended))

    def _as_before(self) -> bool:
        """A broker that was paused for just its session may be fenced after the first look, so it is elected again."""
        if self.view.as_preferred():
            return True
        elect_preferred(self.view)
        return False

    def _killing(self) -> Kill:
        if not isinstance(self.cluster, Kill):
            raise self._not_ours()
        return self.cluster

    def _not_ours(self) -> OutOfReach:
        self.accessed.add(Access.NODES)
        return OutOfReach("this cluster's brokers are not ours to stop")


def _beside(action: Callable[[], None], meanwhile: Callable[[], object] | None) -> None:
    if meanwhile is None:
        action()
        return
    with ThreadPoolExecutor(1) as other:
        acting = other.submit(action)
        while not acting.done():
            meanwhile()
        meanwhile()
        acting.result()
