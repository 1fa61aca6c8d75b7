"""Nothing is left running, however a run ends; what was judged so far stays in the folder. Starts clusters."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from harness.base import wait
from harness.base.user_error import ExitCode
from harness.evidence.run_folder import RunFolder
from harness.machine import watchdog
from suites.selfcheck.fixtures.live_clients import process_cluster

pytestmark = pytest.mark.live
WATCHDOG_SECONDS = 10
"""It takes under two on a calm machine; a busy one must not turn the test red."""
NODES = 5
"""Three brokers, a controller and Toxiproxy."""
PROGRAMS = ("java", "server")
"""What the nodes run, Toxiproxy's being called server; the command runs other tools before them."""


@pytest.fixture(scope="module", autouse=True)
def _everything_fetched(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The first start on a machine downloads and trains; the time limits below are not for that."""
    process_cluster("4.3.1", tmp_path_factory.mktemp("first")).close()


@contextmanager
def running(tmp_path: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """The running command; it and its children are killed when the test ends."""
    command = [sys.executable, "-m", "harness", *words]
    with (tmp_path / "output").open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, text=True, preexec_fn=_allow_interrupts)
    family = psutil.Process(process.pid)
    try:
        yield process
    finally:
        left = family.children(recursive=True) if family.is_running() else []
        process.kill()
        process.wait(30)
        for child in left:
            if child.is_running():
                child.kill()


def _allow_interrupts() -> None:
    """A shell's background job is started with SIGINT ignored, and its children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The nodes that the command started and that still run."""
    try:
        family = psutil.Process(process.pid).children(recursive=True)
        return [one for one in family if one.name() in PROGRAMS]
    except psutil.NoSuchProcess:
        return []


def watchdogs(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The children that wait for the command's end."""
    return [one for one in psutil.Process(process.pid).children() if watchdog.__name__ in one.cmdline()]


def started(process: subprocess.Popen[str], count: int) -> list[psutil.Process]:
    """Wait until the command has that many children."""
    wait.until(
        lambda: len(children(process)) >= count, what=f"{count} children", timeout_seconds=120, interval_seconds=0.05
    )
    return children(process)


def none_left(family: list[psutil.Process]) -> bool:
    """Whether all of them have ended."""
    return not any(map(still_runs, family))


def still_runs(one: psutil.Process) -> bool:
    """Whether it does; it may end between two questions about it."""
    try:
        return one.is_running() and one.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def qualify(tmp_path: Path, select: str = "KIP890-BUMP-05") -> tuple[str, ...]:
    """A short qualification into a folder of the test's."""
    return (
        "qualify",
        "kafka:4.3.1",
        "--backend",
        "process",
        "--select",
        select,
        "--report-dir",
        str(tmp_path / "run"),
    )


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("moment", [1, NODES], ids=["while it starts", "when all nodes run"])
def test_an_interrupted_run_leaves_nothing_running(tmp_path: Path, sent: signal.Signals, moment: int) -> None:
    with running(tmp_path, *qualify(tmp_path)) as process:
        family = started(process, moment)
        process.send_signal(sent)
        assert process.wait(60) == ExitCode.INTERRUPTED
    wait.until(lambda: none_left(family), what="the end of every child", timeout_seconds=10)
    assert "Traceback" not in (tmp_path / "output").read_text()


@pytest.mark.parametrize("moment", [NODES + 1, 2 * NODES], ids=["while the second starts", "when both run"])
def test_an_interrupted_run_leaves_nothing_of_two_clusters_running(tmp_path: Path, moment: int) -> None:
    with running(tmp_path, *qualify(tmp_path, "KIP588-TIMEOUT-03,KIP360-RET-01"), "--clusters", "2") as process:
        family = started(process, moment)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == ExitCode.INTERRUPTED
    wait.until(lambda: none_left(family), what="the end of every child", timeout_seconds=10)
    assert "Traceback" not in (tmp_path / "output").read_text()


@pytest.mark.parametrize("moment", [1, NODES], ids=["while it starts", "when all nodes run"])
def test_nothing_of_a_run_killed_with_9_is_left(tmp_path: Path, moment: int) -> None:
    with running(tmp_path, "up", "kafka:4.3.1", "--backend", "process") as process:
        if moment == NODES:
            wait.until(
                lambda: "logs" in (tmp_path / "output").read_text(),
                what="the addresses",
                timeout_seconds=90,
                interval_seconds=0.05,
            )
        family = [*started(process, moment), *watchdogs(process)]
        assert len(family) > moment
        process.kill()
        process.wait(30)
        wait.until(lambda: none_left(family), what="the end of every child", timeout_seconds=WATCHDOG_SECONDS)


SPARK = """
import signal
from harness.spark.session.spark_session import open_session
session = open_session(name="killed")
print("started", flush=True)
signal.pause()
"""


def test_nothing_of_a_spark_session_killed_with_9_is_left() -> None:
    process = subprocess.Popen([sys.executable, "-c", SPARK], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "started\n"
        family = [*children(process), *watchdogs(process)]
        assert len(family) == 2
    finally:
        process.kill()
        process.communicate()
    wait.until(lambda: none_left(family), what="the end of Spark's JVM", timeout_seconds=WATCHDOG_SECONDS)


def test_what_a_run_killed_with_its_watchdog_left_is_ended_by_the_next_start(tmp_path: Path) -> None:
    with running(tmp_path, *qualify(tmp_path)) as process:
        family = started(process, NODES)
        for child in watchdogs(process):
            child.kill()
        process.kill()
        process.wait(30)
    assert not none_left(family)
    again = tmp_path / "again"
    again.mkdir()
    with running(again, *qualify(again)) as process:
        assert process.wait(120) == ExitCode.KEPT, (again / "output").read_text()
    wait.until(lambda: none_left(family), what="the end of the orphans", timeout_seconds=10)


def test_what_was_judged_before_an_interrupt_stays_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    chosen = ("--backend", "process", "--select", "VERIFY,BUMP,RETRY")
    words = ("qualify", "kafka:4.3.1", *chosen, "--report-dir", str(folder))
    with running(tmp_path, *words) as process:
        wait.until(
            (folder / "verdicts.jsonl").is_file, what="a first verdict", timeout_seconds=90, interval_seconds=0.01
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == ExitCode.INTERRUPTED
    assert (folder / "index.html").is_file()
    assert list(RunFolder.open(folder).evidence())


def test_up_prints_every_address_and_takes_all_down_on_ctrl_c(tmp_path: Path) -> None:
    output: Callable[[], str] = (tmp_path / "output").read_text
    with running(tmp_path, "up", "kafka:4.3.1", "--backend", "process") as process:
        wait.until(lambda: "logs" in output(), what="the addresses", timeout_seconds=90, interval_seconds=0.05)
        family = children(process)
        for expected in ("victim", "rival", "observer", "Toxiproxy", "link-1-2", "link-3-4", "broker-1"):
            assert expected in output()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (ExitCode.KEPT, ExitCode.INTERRUPTED)
    wait.until(lambda: none_left(family), what="the end of every child", timeout_seconds=10)
