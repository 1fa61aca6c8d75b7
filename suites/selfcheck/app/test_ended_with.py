"""An interrupted program of the suites first ends, in order, the qualification that it has started."""

import subprocess
import sys
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
from suites.in_a_sentence import in_a_sentence
from suites.qualification import ended_with
sys.exit(in_a_sentence(lambda: ended_with(subprocess.Popen([sys.executable, "child.py"]))))
"""


def test_a_terminated_program_terminates_what_it_started_and_waits(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "started\n"
    program.terminate()
    _, told = program.communicate(timeout=30)
    assert (program.returncode, told) == (ExitCode.INTERRUPTED, "interrupted\n")
    assert (tmp_path / "ended").exists()
