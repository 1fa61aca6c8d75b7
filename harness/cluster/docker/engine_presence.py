"""Whether a container engine could be there at all, known without importing a client of one."""

from pathlib import Path

from harness.machine import download_cache

# Where engines listen, and the file that names another place.
TRACES = ("/var/run/docker.sock", "~/.docker/run/docker.sock", "~/.docker/contexts")


def engine_may_answer() -> bool:
    """False where asking would be in vain, so that a machine without an engine pays nothing for the question."""
    return download_cache.engine_named() or any(Path(trace).expanduser().exists() for trace in TRACES)
