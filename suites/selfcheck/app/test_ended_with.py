"""An interrupted program of the suites first ends, in order, the qualification that it has started."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.base.paths import ROOT
from harness.base.user_error import ExitCode

CHILD = """
import pathlib, signal, sys
def end(*_):
    pathlib.Path("ended").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("started", flush=True)
signal.pause()
"""
PROGRAM = """
import subprocess, sys
class Waiting(subprocess.Popen):
    def wait(self, timeout=None):
        print("waiting", flush=True)
        return super().wait(timeout)
from suites.in_a_sentence import in_a_sentence
from suites.qualification import ended_with
sys.exit(in_a_sentence(lambda: ended_with(Waiting([sys.executable, "child.py"]))))
"""


@contextmanager
def running(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """The program there, in a process group of its own, of which nothing is left afterwards."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        try:
            yield program
        finally:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)


def test_a_terminated_program_terminates_what_it_started_and_waits(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    with running(tmp_path) as program:
        assert program.stdout is not None
        assert {program.stdout.readline() for _ in range(2)} == {"started\n", "waiting\n"}
        program.terminate()
        _, told = program.communicate(timeout=30)
    assert (program.returncode, told) == (ExitCode.INTERRUPTED, "interrupted\n")
    assert (tmp_path / "ended").exists()
