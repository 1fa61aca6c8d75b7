"""From a target to a running cluster: which backend opens it, and why, and the opening itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.cluster.backend import Backend, Progress
from harness.cluster.backend_catalogue import AUTO, BACKENDS
from harness.cluster.cluster import Cluster, ClusterOptions
from harness.cluster.target import External, Target
from harness.machine import download_cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A backend, and why it was taken."""

    backend: Backend
    why: str


def choose_backend(target: Target, backend: str) -> Choice:
    """Which backend opens the target, known before anything is started.

    :param backend: A backend's name, or ``auto``: the first that is available.
    :raises UserError: USAGE, when the backend cannot open it.
    """
    able = [one for one in BACKENDS if type(target) in one.opens]
    if backend == AUTO:
        return _first_available(target, able)
    named = next((one for one in able if one.name == backend), None)
    if named is None:
        raise UserError(f"the {backend} backend cannot open {target}; leave --backend at auto", exit=ExitCode.USAGE)
    return Choice(backend=named, why="it was asked for")


def _first_available(target: Target, able: Sequence[Backend]) -> Choice:
    if len(able) == 1:
        return Choice(backend=able[0], why=f"the target is {target.kind}")
    passed_over: list[str] = []
    for backend in able:
        if not (lack := backend.unavailable(target)):
            return Choice(backend=backend, why=": ".join((backend.reason, *passed_over)))
        passed_over.append(lack)
    raise UserError(f"no backend can open {target}: {'; '.join(passed_over)}", exit=ExitCode.TOOL_MISSING)


def why_not_made(target: Target, backend: str, options: ClusterOptions) -> str | None:
    """Why no cluster with these options can be started of the target, known before anything is; None when it can."""
    return choose_backend(target, backend).backend.cannot(options)


def open_cluster(
    target: Target, *, backend: str, options: ClusterOptions, run_dir: Path, progress: Progress
) -> Cluster:
    """A running Kafka, ready for a first transaction; its logs go to ``run_dir/logs``.

    :param backend: A backend's name, or ``auto``.
    :raises UserError: When it cannot be had, in one sentence.
    """
    if options.client_properties is not None and not isinstance(target, External):
        raise UserError(f"--client-properties is for external targets; {target} is {target.kind}", exit=ExitCode.USAGE)
    with download_cache.room_needed():
        return choose_backend(target, backend).backend.opener(target, options, run_dir, progress)
