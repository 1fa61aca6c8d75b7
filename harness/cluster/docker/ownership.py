"""Whose a container, network or volume is, by its labels; and their removal.

Labels say which run made a thing and which process owned the run (id and start time, because ids are used again, and
the machine, because an engine can be shared). A run that ends removes what carries its own label. A run that was
killed leaves things behind; the next start removes exactly those whose owner is of this machine and no longer lives.
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
from harness.cluster.docker.engine import WORKING, APIError, Engine, NotFound, create_labels, together
from harness.machine.run_processes import alive, born

RUN, PID, STARTED, MACHINE = (f"fencepost.{word}" for word in ("run", "owner.pid", "owner.started", "owner.machine"))
BUSY = ("already in progress", "has active endpoints", "volume is in use")
"""What the engine answers while somebody else removes the same."""


@dataclass(slots=True)
class StartLatch:
    """Who is creating something now; once it is closed nobody can begin to.

    An interrupt can leave a thread at work that nobody waits for; what it made after we looked would stay.
    """

    inside: int = 0
    closed: bool = False
    moved: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Create something.

        :raises RuntimeError: When the run is ending.
        """
        with self.moved:
            if self.closed:
                raise RuntimeError("the run is ending; nothing more is created for it")
            self.inside += 1
        try:
            yield
        finally:
            with self.moved:
                self.inside -= 1
                self.moved.notify_all()

    def close(self) -> None:
        """Let nobody in any more, and wait for those who are inside."""
        with self.moved:
            self.closed = True
            self.moved.wait_for(lambda: self.inside == 0, timeout=WORKING)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedResources:
    """One cluster's things on the engine."""

    engine: Engine
    name: str
    gate: StartLatch = field(default_factory=StartLatch)

    def network(self, name: str, **wanted: Any) -> None:
        """Create a network of the run's."""
        with self.gate.passed():
            self.engine.sdk.api.create_network(name, labels=create_labels("", self.labels()), **wanted)

    def container(self, image: str, **wanted: Any) -> Any:
        """Create a container of the run's; it does not run yet."""
        with self.gate.passed():
            return self.engine.wrapped.create(image, labels=self.labels(), **wanted)

    def labels(self) -> dict[str, str]:
        """What everything of ours carries, beside the labels by which testcontainers' Ryuk would know it."""
        owner = born(os.getpid())
        ours = {RUN: self.name, PID: str(int(owner["pid"])), STARTED: str(owner["started"])}
        return {**ours, MACHINE: socket.gethostname()}

    def remove(self) -> None:
        """Remove everything that carries this run's label; may be called twice."""
        self.gate.close()
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
    return alive({"pid": float(labels.get(PID, 0)), "started": float(labels.get(STARTED, 0))}) is None


def _remove(engine: Engine, label: str) -> None:
    """Remove what carries the label, until nothing does: somebody else may be at it too, and not be done yet.

    :raises Trouble: NOT_READY, when the engine does not get rid of it.
    """
    try:
        wait.until(lambda: not _found(engine, label), what="its end", within=WORKING, every=0.1)
    except wait.NotInTime as late:
        sentence = f"the container engine does not remove what carries the label {label}; remove it by hand"
        raise UserError(
            f"{sentence}: docker rm -f $(docker ps -aq --filter label={label})", exit=ExitCode.NOT_READY
        ) from late


def _found(engine: Engine, label: str) -> bool:
    """Remove what there is, and say whether there was anything.

    Containers first: a network with somebody on it cannot be removed.
    """
    api, wanted = engine.sdk.api, {"label": label}
    containers, networks = api.containers(all=True, filters=wanted), api.networks(filters=wanted)
    volumes = api.volumes(filters=wanted)["Volumes"] or ()
    together(*(_gone(api.remove_container, thing["Id"], v=True, force=True) for thing in containers))
    together(*(_gone(api.remove_network, thing["Id"]) for thing in networks))
    together(*(_gone(api.remove_volume, volume["Name"], force=True) for volume in volumes))
    return bool(containers or networks or volumes)


def _gone(remove: Any, name: str, **options: bool) -> Callable[[], None]:
    """A removal that does not mind if somebody else was quicker, or is about to be."""

    def removal() -> None:
        try:
            remove(name, **options)
        except NotFound:
            return
        except APIError as error:
            if not any(busy in str(error) for busy in BUSY):
                raise

    return removal
