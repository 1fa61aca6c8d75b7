"""Which run a container, network or volume belongs to, by its labels; and their removal.

Labels name the run and the process that owned it (id and start time, because ids are used again, and the machine,
because an engine can be shared). A run that ends removes what carries its own label. What a killed run left is removed
by its watchdog, or by the next start: exactly the things whose owner was on this machine and no longer runs.
"""

import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from harness.base import wait
from harness.base.user_error import ExitCode, UserError
from harness.cluster.docker.engine import WORK_SECONDS, APIError, Engine, NotFound, create_labels, in_parallel
from harness.machine.orphans import ProcessRecord

RUN, PID, STARTED, MACHINE = (f"fencepost.{word}" for word in ("run", "owner.pid", "owner.started", "owner.machine"))
BEING_REMOVED = ("already in progress", "has active endpoints", "volume is in use")
"""What the engine answers while another process removes the same thing."""


@dataclass(slots=True)
class StartLatch:
    """Counts who is creating something; once it is closed, none can begin.

    An interrupt can leave a thread at work that is not waited for; what it creates after the removal would stay.
    """

    creating: int = 0
    closed: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Hold the latch open while something is created; :raises RuntimeError: when the run is ending."""
        with self.changed:
            if self.closed:
                raise RuntimeError("the run is ending; nothing more is created for it")
            self.creating += 1
        try:
            yield
        finally:
            with self.changed:
                self.creating -= 1
                self.changed.notify_all()

    def close(self) -> None:
        """Refuse new ones, and wait for those that have begun."""
        with self.changed:
            self.closed = True
            self.changed.wait_for(lambda: self.creating == 0, timeout=WORK_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedResources:
    """One cluster's containers, networks and volumes on the engine."""

    engine: Engine
    name: str
    latch: StartLatch = field(default_factory=StartLatch)

    def network(self, name: str, **wanted: Any) -> None:
        with self.latch.entered():
            self.engine.sdk.api.create_network(name, labels=create_labels("", self.labels()), **wanted)

    def volume(self, name: str) -> None:
        with self.latch.entered():
            self.engine.sdk.api.create_volume(name, labels=create_labels("", self.labels()))

    def container(self, image: str, **wanted: Any) -> Any:
        """Create a container of the run's; it does not run yet."""
        with self.latch.entered():
            return self.engine.wrapped.create(image, labels=self.labels(), **wanted)

    def labels(self) -> dict[str, str]:
        """The labels of everything that the run creates."""
        owner = ProcessRecord.of(os.getpid())
        return {RUN: self.name, PID: str(owner.pid), STARTED: str(owner.started), MACHINE: socket.gethostname()}

    def remove(self) -> None:
        """Remove everything that carries this run's label; may be called twice."""
        self.latch.close()
        _remove(self.engine, f"{RUN}={self.name}")


def remove_orphans(engine: Engine) -> list[str]:
    """Remove what killed runs of this machine left; the names of those runs."""
    orphans = {labels[RUN] for labels in _labels(engine) if _orphaned(labels)}
    for name in orphans:
        _remove(engine, f"{RUN}={name}")
    return sorted(orphans)


def _labels(engine: Engine) -> Iterable[Mapping[str, str]]:
    wanted = {"label": RUN}
    for thing in (*engine.sdk.api.containers(all=True, filters=wanted), *engine.sdk.api.networks(filters=wanted)):
        yield thing["Labels"]
    for volume in engine.sdk.api.volumes(filters=wanted)["Volumes"] or ():
        yield volume["Labels"]


def _orphaned(labels: Mapping[str, str]) -> bool:
    if labels.get(MACHINE) != socket.gethostname():
        return False
    owner = ProcessRecord(pid=int(labels.get(PID, 0)), started=float(labels.get(STARTED, 0)))
    return owner.process() is None


def _remove(engine: Engine, label: str) -> None:
    """Remove what carries the label, until nothing does: another process may be removing it too.

    :raises UserError: NOT_READY, when the engine does not get rid of it.
    """
    try:
        wait.until(
            lambda: not _remove_once(engine, label), what="its end", timeout_seconds=WORK_SECONDS, interval_seconds=0.1
        )
    except wait.TimedOut as late:
        sentence = f"the container engine does not remove what carries the label {label}; remove it by hand"
        raise UserError(
            f"{sentence}: docker rm -f $(docker ps -aq --filter label={label})", exit=ExitCode.NOT_READY
        ) from late


def _remove_once(engine: Engine, label: str) -> bool:
    """Remove what there is; whether there was anything.

    Containers first: a network with a container on it cannot be removed.
    """
    api, wanted = engine.sdk.api, {"label": label}
    containers, networks = api.containers(all=True, filters=wanted), api.networks(filters=wanted)
    volumes = api.volumes(filters=wanted)["Volumes"] or ()
    in_parallel(*(_removal(api.remove_container, thing["Id"], v=True, force=True) for thing in containers))
    in_parallel(*(_removal(api.remove_network, thing["Id"]) for thing in networks))
    in_parallel(*(_removal(api.remove_volume, volume["Name"], force=True) for volume in volumes))
    return bool(containers or networks or volumes)


def _removal(remove: Any, name: str, **options: bool) -> Callable[[], None]:
    """A removal for which it is no error that the thing was removed, or is being removed, by another process."""

    def remove_it() -> None:
        try:
            remove(name, **options)
        except NotFound:
            return
        except APIError as error:
            if not any(busy in str(error) for busy in BEING_REMOVED):
                raise

    return remove_it
