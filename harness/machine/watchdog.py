"""A child process that ends what a run leaves running when the run itself is killed with ``kill -9``.

It reads its end of a pipe and sleeps until its parent is gone. Then it ends the processes that are recorded in the
run's folder, and after that does what further modules do, for what is no process of this machine (containers). A run
that ends by itself kills its watchdog. Should the watchdog be killed too, the next start does the same.
"""

import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.base import wait
from harness.base.paths import ROOT
from harness.machine import orphans

PARENT_END_SECONDS = 20.0


def start_watchdog(folder: Path, also_run: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    """Watch over the run whose folder this is; killing the returned process calls it off.

    :param also_run: Modules that are run as ``python -m`` does, once the run's processes are ended.
    """
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(os.getpid()), folder, *also_run],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        start_new_session=True,  # a terminal's Ctrl-C must not reach it
    )


def main(parent: int, folder: Path, also_run: Sequence[str]) -> None:
    """Wait for the parent's end, then end what it left.

    :raises harness.base.wait.TimedOut: When the parent closed the pipe and lives on.
    """
    sys.stdin.buffer.read()
    wait.until(lambda: os.getppid() != parent, what="the parent's end", timeout_seconds=PARENT_END_SECONDS)
    orphans.end_processes_of(folder)
    for module in also_run:
        runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
