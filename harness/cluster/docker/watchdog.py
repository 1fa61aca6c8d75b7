"""A child that tidies up the engine when its parent dies: what ``kill -9`` leaves goes at once, not at the next start.

It does what testcontainers' Ryuk does, without an image to pull and with no container of its own, so Ryuk is never
started and its settings change nothing. It reads its end of a pipe and sleeps until the parent is gone; then it makes
the sweep that the next start would make, which spares whatever has a living owner. A run that ends by itself ends it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from harness.base import wait

PACKAGES = Path(__file__).parents[3]
WITHIN = 20.0


@contextmanager
def watched() -> Iterator[None]:
    """Have the engine tidied up should this process die within."""
    watching = subprocess.Popen(
        [sys.executable, "-m", __name__, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=PACKAGES,
        start_new_session=True,  # a terminal's Ctrl-C is for us alone
    )
    with watching:
        try:
            yield
        finally:
            watching.kill()


def main(parent: int) -> None:
    """Wait for the parent's end, then sweep until a sweep finds nothing.

    :raises harness.base.wait.NotInTime: When the parent let go of the pipe and lives, or there is no end of sweeping.
    """
    sys.stdin.buffer.read()
    wait.until(lambda: os.getppid() != parent, what="the parent's end", within=WITHIN)
    from harness.cluster.docker import engine, ownership  # slow to import, and nearly always for nothing

    with engine.refused(), closing(engine.reach()) as reached:
        wait.until(lambda: not ownership.remove_orphans(reached), what="a clean engine", within=WITHIN)


if __name__ == "__main__":
    main(int(sys.argv[1]))
