"""An interrupt ends the command with its own exit code, wherever in Python it strikes."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.interrupts import is_interrupt
from harness.base.paths import ROOT
from harness.base.user_error import ExitCode

PROGRAM = """
import signal, sys
from harness import __main__ as entry
from harness.app import cli
def interrupted():
    {struck}
    return 130
cli.main = interrupted
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(entry.main())
"""
IN_A_STRING = "try: exec('import signal; signal.raise_signal(signal.SIGINT)')\n    except KeyboardInterrupt: pass"
IN_SET_NAME = (
    "field = type('Field', (), {'__set_name__': lambda *_: signal.raise_signal(signal.SIGINT)})\n"
    "    type('Model', (), {'name': field()})"
)


@pytest.mark.parametrize("struck", [IN_A_STRING, IN_SET_NAME], ids=["in an executed string", "in __set_name__"])
def test_the_exit_code_of_an_interrupt_is_its_own(tmp_path: Path, struck: str) -> None:
    (tmp_path / "interrupted.py").write_text(PROGRAM.format(struck=struck))
    command = [sys.executable, "-m", "interrupted"]
    ended = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": f"{tmp_path}:{ROOT}"}, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, "Traceback" in ended.stderr) == (ExitCode.INTERRUPTED, False), ended.stderr


def test_what_fails_while_an_interrupt_is_handled_is_an_interrupt() -> None:
    tidied = RuntimeError("not ended in time")
    tidied.__context__ = KeyboardInterrupt()
    assert is_interrupt(tidied)
    assert not is_interrupt(RuntimeError("of its own"))


IN_A_LOCK = """
import signal, sys, threading
from harness.base.interrupts import raise_interrupts

class Struck(threading.Condition):
    def __enter__(self):
        entered = super().__enter__()
        signal.raise_signal(signal.SIGINT)
        return entered

signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.argv[1] == "ours":
    raise_interrupts()
condition = Struck()
try:
    with condition:
        pass
    threading.Event().wait(20)
except KeyboardInterrupt:
    free = []
    other = threading.Thread(target=lambda: free.append(condition.acquire(blocking=False)))
    other.start()
    other.join()
    print("free" if free == [True] else "held")
"""


@pytest.mark.parametrize(("handler", "lock"), [("ours", "free"), ("that of Python", "held")])
def test_an_interrupt_leaves_no_lock_held(handler: str, lock: str) -> None:
    command = [sys.executable, "-c", IN_A_LOCK, handler]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (ran.stdout, ran.stderr) == (f"{lock}\n", "")
