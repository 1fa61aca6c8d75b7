"""Whatever a program does instead of being an adapter becomes one sentence, and nothing of it is left running."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from harness.base import wait
from harness.clients.stdio import adapter_process
from harness.clients.stdio.adapter_options import AdapterOptions
from harness.clients.stdio.adapter_process import AdapterFailed, AdapterProcess, start_adapter
from suites.selfcheck.clients.stdio.programs import SOUND, child_of, program, running

TALKS = "import sys; [print(f'line {number}', file=sys.stderr) for number in range(300)]; sys.exit(1)"
LAST_LINES = "\n  ".join(f"line {number}" for number in range(295, 300))
ANSWER = "import sys; from time import sleep; line = sys.stdin.readline(); print({}, flush=True); sleep(60)"
Start = Callable[[str], AdapterProcess]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the program of a text; nothing of it is left afterwards, whatever becomes of the test."""
    with ExitStack() as ends:
        yield lambda text: ends.enter_context(running(program(tmp_path, text)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "import sys; sys.stderr.write('no license'); sys.exit(2)",
            "ended with exit code 2 before it answered begin\n  no license",
        ),
        (TALKS, f"ended with exit code 1 before it answered begin\n  {LAST_LINES}"),
        ("import os; from time import sleep; os.close(1); sleep(60)", "closed its output before it answered begin"),
        ("import os; os.write(1, b'{\"id\": 1')", """answered begin with '{"id": 1': it is not JSON"""),
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
def test_a_program_that_is_no_adapter(text: str, sentence: str, start: Start) -> None:
    adapter = start(text)
    with pytest.raises(AdapterFailed) as failed:
        adapter.call("begin", within_seconds=0.5 if "did not answer" in sentence else 20.0)
    assert str(failed.value).startswith("the adapter ./adapter ")
    assert sentence in str(failed.value)
    adapter.kill()
    assert names(adapter) == []


def test_one_that_does_not_read_a_long_call_is_told(start: Start) -> None:
    busy = "import sys; print('busy', file=sys.stderr, flush=True); "
    adapter = start(busy + ANSWER.format('\'{"id": 1, "outcome": "done"}\''))
    assert adapter.call("begin", within_seconds=20.0).done
    wait.until(lambda: adapter.stderr == ("busy",), what="what it says", timeout_seconds=20.0)
    with pytest.raises(AdapterFailed, match=r"did not read produce within 0\.5 s\n  busy$"):
        adapter.call("produce", within_seconds=0.5, values=["x" * (1 << 20)])
    adapter.kill()
    assert names(adapter) == []


def test_a_call_may_be_longer_than_what_a_pipe_holds(start: Start) -> None:
    adapter = start(SOUND)
    assert adapter.call("begin", within_seconds=20.0, values=["x" * (1 << 20)]).done
    assert adapter.end() == 0


def test_a_call_after_its_end_tells_how_it_ended(start: Start) -> None:
    adapter = start(SOUND)
    assert adapter.end() == 0
    with pytest.raises(AdapterFailed, match="ended with exit code 0 before it answered begin"):
        adapter.call("begin", within_seconds=20.0)


def test_what_it_said_before_it_ended_is_read(start: Start) -> None:
    adapter = start("print('no broker at all', flush=True)")
    adapter.process.wait(20.0)
    with pytest.raises(AdapterFailed, match="answered begin with 'no broker at all': it is not JSON"):
        adapter.call("begin", within_seconds=20.0)


def test_one_that_floods_waits_in_its_own_write(start: Start) -> None:
    adapter = start('while True: print(\'{"id": 1, "outcome": "done"}\')')
    assert adapter.call("begin", within_seconds=20.0).done
    with pytest.raises(AdapterFailed, match="out of turn: id 1 where commit has id 2"):
        adapter.call("commit", within_seconds=20.0)
    adapter.end()
    assert adapter.process.returncode is not None


def test_one_that_floods_its_standard_error_is_answered_and_the_end_of_it_kept(start: Start) -> None:
    adapter = start("import sys; sys.stderr.write('x' * (8 << 20)); sys.stderr.write('last')\n" + SOUND)
    assert adapter.call("open", within_seconds=20.0).done
    assert adapter.end() == 0
    assert len("".join(adapter.stderr)) <= 4096 * adapter_process.KEPT_STDERR_LINES
    assert adapter.stderr[-1].endswith("last")


def test_what_one_that_crashes_has_started_ends_with_it(start: Start) -> None:
    text = "import os, subprocess, sys; child = subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL)\n"
    adapter = start(text + "sys.stdin.readline(); os.abort()")
    with pytest.raises(AdapterFailed, match="was ended by SIGABRT before it answered begin"):
        adapter.call("begin", within_seconds=20.0)
    assert names(adapter) == ["sleep"]
    adapter.end()
    psutil.wait_procs(group(adapter), timeout=10.0)
    assert names(adapter) == []


def test_what_it_has_started_ends_with_it(start: Start) -> None:
    adapter = start("import subprocess; child = subprocess.Popen(['sleep', '600'])\n" + SOUND)
    assert adapter.call("open", within_seconds=20.0).done
    child = child_of(adapter)
    assert adapter.end() == 0
    child.wait(10.0)
    assert not child.is_running()


def test_one_that_ignores_sigterm_is_killed(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter_process, "END_SECONDS", 0.5)
    deaf = "import signal; from time import sleep; signal.signal(15, signal.SIG_IGN); "
    adapter = start(deaf + "print('x', flush=True); sleep(600)")
    adapter.line("anything", 20.0)
    assert adapter.end() is None
    assert adapter.process.returncode == -signal.SIGKILL
    assert names(adapter) == []


def test_secrets_reach_it_by_a_file_alone(start: Start, tmp_path: Path) -> None:
    secret = "hidden-in-a-file"
    properties = tmp_path / "client.properties"
    properties.write_text(f'sasl.jaas.config=Login required username="u" password="{secret}";\n', encoding="utf-8")
    options = AdapterOptions(bootstrap=["b:1"], client_id="c", properties_file=str(properties))
    adapter = start(SOUND)
    assert adapter.call("open", within_seconds=20.0, **options.arguments()).done
    process = psutil.Process(adapter.process.pid)
    assert process.cmdline()[-1] == str(tmp_path / "adapter.py")
    assert secret not in f"{process.cmdline()} {process.environ()} {json.dumps(options.arguments())}"


def test_a_missing_program_is_a_sentence() -> None:
    with pytest.raises(AdapterFailed, match="the adapter x cannot be started: No such file"):
        start_adapter(["/nowhere/at/all"], name="x")


def group(adapter: AdapterProcess) -> list[psutil.Process]:
    """The adapter and what it has started, as far as they run."""
    alive = (each for each in psutil.process_iter(["status"]) if each.info["status"] != psutil.STATUS_ZOMBIE)
    return [each for each in alive if group_of(each) == adapter.process.pid]


def group_of(process: psutil.Process) -> int | None:
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return None


def names(adapter: AdapterProcess) -> list[str]:
    """Names of those."""
    return [each.name() for each in group(adapter)]
