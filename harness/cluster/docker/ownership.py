"""Whose a container, network or volume is, by its labels; and their removal.

Labels say which run made a thing and which process owned the run (id and start time, because ids are used again, and
the machine, because an engine can be shared). A run that ends removes what carries its own label. A run that was
killed leaves things behind; the next start removes exactly those whose owner is of this machine and no longer lives.
"""

import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.cluster.docker.engine import APIError, Engine, NotFound, together
from harness.cluster.run_area import alive, born

RUN, PID, STARTED, MACHINE = (f"fencepost.{word}" for word in ("run", "owner.pid", "owner.started", "owner.machine"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One cluster's things on the engine."""

    engine: Engine
    name: str

    def labels(self) -> dict[str, str]:
        """What everything of ours carries, beside the labels by which testcontainers' Ryuk would know it."""
        owner = born(os.getpid())
        ours = {RUN: self.name, PID: str(int(owner["pid"])), STARTED: str(owner["started"])}
        return {**ours, MACHINE: socket.gethostname()}

    def remove(self) -> None:
        """Remove everything that carries this run's label; may be called twice."""
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
    """Containers first: a network with somebody on it cannot be removed."""
    api, wanted = engine.sdk.api, {"label": label}
    containers = api.containers(all=True, filters=wanted)
    together(*(_gone(api.remove_container, thing["Id"], v=True, force=True) for thing in containers))
    together(*(_gone(api.remove_network, thing["Id"]) for thing in api.networks(filters=wanted)))
    for volume in api.volumes(filters=wanted)["Volumes"] or ():
        _gone(api.remove_volume, volume["Name"], force=True)()


def _gone(remove: Any, name: str, **options: bool) -> Any:
    """A removal that does not mind if somebody else was quicker."""

    def removal() -> None:
        try:
            remove(name, **options)
        except NotFound:
            return
        except APIError as error:
            if "already in progress" not in str(error):
                raise

    return removal
