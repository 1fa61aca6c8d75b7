"""Whatever a program does instead of being an adapter becomes one sentence, and nothing of it is left running."""

import signal
from pathlib import Path

import psutil
import pytest

from harness.clients.stdio import adapter_process
from harness.clients.stdio.adapter_process import AdapterFailed, AdapterProcess, start_adapter
from suites.selfcheck.clients.stdio.programs import SOUND, program

ANSWER = "import sys; from time import sleep; line = sys.stdin.readline(); print({}, flush=True); sleep(60)"


def started(folder: Path, text: str) -> AdapterProcess:
    made = program(folder, text)
    return start_adapter(made.command, name=made.name)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "import sys; sys.stderr.write('no license'); sys.exit(2)",
            "ended with exit code 2 before it answered begin\n  no license",
        ),
        ("import os; os.kill(os.getpid(), 9)", "was ended by SIGKILL before it answered begin"),
        ("from time import sleep; sleep(60)", "did not answer begin within 0.5 s"),
        ("print('x' * (5 << 20), flush=True); from time import sleep; sleep(60)", "a line of more than 4194304 bytes"),
        ("import os; os.write(1, b'\\xff\\n'); from time import sleep; sleep(60)", "it is not JSON"),
        (ANSWER.format('\'{"id": 7, "outcome": "done"}\''), "out of turn: id 7 where begin has id 1"),
        (ANSWER.format("'[]'"), "the line is no object"),
        (ANSWER.format('\'{"id": 1, "outcome": "fine"}\''), "outcome is 'fine', not one of done, refused, unsure"),
        (ANSWER.format('\'{"id": 1, "outcome": "refused"}\''), "outcome is 'refused' without an error"),
        (ANSWER.format('\'{"id": true, "outcome": "done"}\''), "id is True, not a number"),
    ],
)
def test_a_program_that_is_no_adapter(text: str, sentence: str, tmp_path: Path) -> None:
    adapter = started(tmp_path, text)
    try:
        with pytest.raises(AdapterFailed) as failed:
            adapter.call("begin", within_seconds=0.5 if "did not answer" in sentence else 20.0)
        assert str(failed.value).startswith("the adapter ./adapter ")
        assert sentence in str(failed.value)
    finally:
        adapter.kill()


def test_what_it_said_before_it_ended_is_read(tmp_path: Path) -> None:
    adapter = started(tmp_path, "print('no broker at all', flush=True)")
    adapter.process.wait(20.0)
    with pytest.raises(AdapterFailed, match="answered begin with 'no broker at all': it is not JSON"):
        adapter.call("begin", within_seconds=20.0)
    adapter.kill()


def test_one_that_floods_waits_in_its_own_write(tmp_path: Path) -> None:
    adapter = started(tmp_path, 'while True: print(\'{"id": 1, "outcome": "done"}\')')
    assert adapter.call("begin", within_seconds=20.0).done
    with pytest.raises(AdapterFailed, match="out of turn: id 1 where commit has id 2"):
        adapter.call("commit", within_seconds=20.0)
    adapter.end()
    assert adapter.process.returncode is not None


def test_what_it_has_started_ends_with_it(tmp_path: Path) -> None:
    text = "import subprocess, sys; child = subprocess.Popen(['sleep', '600']); sys.stderr.write(f'{child.pid}\\n')\n"
    adapter = started(tmp_path, text + SOUND)
    assert adapter.call("open", within_seconds=20.0).done
    child = psutil.Process(int(adapter.stderr[0]))
    assert adapter.end() == 0
    child.wait(10.0)
    assert not child.is_running()


def test_one_that_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter_process, "END_SECONDS", 0.5)
    deaf = "import signal; from time import sleep; signal.signal(15, signal.SIG_IGN); "
    adapter = started(tmp_path, deaf + "print('x', flush=True); sleep(600)")
    adapter.line("anything", 20.0)
    assert adapter.end() is None
    assert adapter.process.returncode == -signal.SIGKILL


def test_a_missing_program_is_a_sentence() -> None:
    with pytest.raises(AdapterFailed, match="the adapter x cannot be started: No such file"):
        start_adapter(["/nowhere/at/all"], name="x")
