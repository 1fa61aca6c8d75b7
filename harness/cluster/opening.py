"""From a target to a running cluster: which backend, and its opener.

Backends stand in one table, so that another one is a file and a line. What ``auto`` takes, and why, is a value that
can be printed before anything is started.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from harness.base.user_error import ExitCode, UserError
from harness.cluster import distribution
from harness.cluster.cluster import Cluster, ClusterOptions
from harness.cluster.docker.engine_presence import engine_may_answer
from harness.cluster.external import open_external
from harness.cluster.process.process_cluster import find_tools, open_process
from harness.cluster.target import Distribution, External, Image, Released, Target
from harness.machine import download_cache

Backend: TypeAlias = Literal["auto", "process", "docker", "external"]
Progress: TypeAlias = Callable[[str], None]
Opener: TypeAlias = Callable[[Target, ClusterOptions, Path, Progress], Cluster]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A backend, and why it was taken."""

    backend: str
    why: str


def choose_backend(target: Target, backend: Backend) -> Choice:
    """Which backend opens the target.

    :raises Trouble: USAGE, when the backend cannot open it.
    """
    if backend == "auto":
        return _automatic(target)
    if backend not in ABLE[type(target)]:
        raise UserError(f"the {backend} backend cannot open {target}; leave --backend at auto", exit=ExitCode.USAGE)
    return Choice(backend=backend, why="it was asked for")


def _automatic(target: Target) -> Choice:
    match target:
        case External():
            return Choice(backend="external", why="the target is a running cluster")
        case Image():
            return Choice(backend="docker", why="the target is an image")
    if lack := _no_containers(target):
        return Choice(backend="process", why=f"its files are started as local JVMs: {lack}")
    return Choice(backend="docker", why="a container engine answers")


def _no_containers(target: Target) -> str | None:
    """Why the target cannot be opened in containers, or None."""
    if not engine_may_answer():
        return "there is no container engine"
    from harness.cluster.docker.engine_choice import (
        lacking,  # slow to import, which a machine without an engine need not pay
    )

    return lacking(target)


def open_cluster(
    target: Target, *, backend: Backend, options: ClusterOptions, run_dir: Path, progress: Progress
) -> Cluster:
    """A running Kafka, ready for a first transaction; its logs go to ``run_dir/logs``.

    :raises Trouble: When it cannot be had, in one sentence.
    """
    with download_cache.room_needed():
        return OPENERS[choose_backend(target, backend).backend](target, options, run_dir, progress)


def _process(target: Target, options: ClusterOptions, run_dir: Path, progress: Progress) -> Cluster:
    tools = find_tools(progress)
    match target:
        case Released():
            files = distribution.released(target, progress)
        case Distribution():
            files = distribution.distribution(target, progress)
        case Image():
            raise UserError(f"{target} needs a container engine; leave --backend at auto", exit=ExitCode.USAGE)
        case External():
            raise UserError(f"{target} runs already; open it by the external backend", exit=ExitCode.USAGE)
    return open_process(files, tools, options, run_dir, progress)


def _docker(target: Target, options: ClusterOptions, run_dir: Path, progress: Progress) -> Cluster:
    from harness.cluster.docker.docker_cluster import (
        open_docker,  # the engine's client is slow to import, and not all need it
    )

    return open_docker(target, options, run_dir, progress)


def _external(target: Target, options: ClusterOptions, run_dir: Path, progress: Progress) -> Cluster:
    if not isinstance(target, External):
        raise UserError(f"{target} is not a running cluster", exit=ExitCode.USAGE)
    return open_external(target, options, run_dir, progress)


ABLE: Mapping[type, tuple[str, ...]] = {
    Released: ("process", "docker"),
    Distribution: ("process", "docker"),
    Image: ("docker",),
    External: ("external",),
}
OPENERS: Mapping[str, Opener] = {"process": _process, "docker": _docker, "external": _external}
