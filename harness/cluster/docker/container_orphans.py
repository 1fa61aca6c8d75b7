"""Removes from the engine what killed runs of this machine left.

The watchdog of a run in containers runs this module. It does what testcontainers' Ryuk does, without an image to pull
and with no container of its own, so Ryuk is never started and its settings change nothing.
"""

from contextlib import closing

from harness.base import wait
from harness.cluster.docker import ownership
from harness.cluster.docker.engine import engine_errors, reach

CLEAN_SECONDS = 20.0


def main() -> None:
    """Remove orphans until there are none.

    :raises harness.base.wait.NotInTime: When the engine does not get rid of them.
    """
    with engine_errors(), closing(reach()) as engine:
        wait.until(lambda: not ownership.remove_orphans(engine), what="a clean engine", timeout_seconds=CLEAN_SECONDS)


if __name__ == "__main__":
    main()
