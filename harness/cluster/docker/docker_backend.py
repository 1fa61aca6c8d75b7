"""The docker backend as a value; the engine's client is slow to import, so it is imported when it is needed."""

from pathlib import Path

from harness.cluster.backend import Backend, Progress
from harness.cluster.cluster import Cluster, ClusterOptions
from harness.cluster.docker import BACKEND
from harness.cluster.target import Distribution, Image, Released, Target
from harness.machine import download_cache

# Sockets of engines, and the file that names another one.
ENGINE_TRACES = ("/var/run/docker.sock", "~/.docker/run/docker.sock", "~/.docker/contexts")


def engine_may_answer() -> bool:
    """False where there is no trace of a container engine, so that a machine without one pays nothing for asking."""
    return download_cache.engine_named() or any(Path(trace).expanduser().exists() for trace in ENGINE_TRACES)


def _unavailable(target: Target) -> str | None:
    if not engine_may_answer():
        return "there is no container engine"
    from harness.cluster.docker import images

    return images.unavailable(target)


def _open(target: Target, options: ClusterOptions, run_dir: Path, progress: Progress) -> Cluster:
    from harness.cluster.docker.docker_cluster import open_docker

    return open_docker(target, options, run_dir, progress)


DOCKER = Backend(
    name=BACKEND,
    opens=(Released, Distribution, Image),
    reason="a container engine answers",
    unavailable=_unavailable,
    opener=_open,
)
