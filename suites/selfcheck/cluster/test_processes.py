"""The process backend without a Kafka: orphans, watchdog, cache entries, full disks and nodes that did not start."""

import errno
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from harness.base import wait
from harness.base.paths import ROOT
from harness.base.user_error import ExitCode
from harness.cluster.nodes.startup_error import not_ready
from harness.machine import download_cache
from harness.machine.orphans import end_orphans
from harness.machine.run_processes import open_run_processes
from suites.selfcheck.fixtures.user_errors import raises_user_error

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]
GONE = {"pid": 2**22 + 1, "started": 0.0}  # no Linux process has this id


def killed_run(runs: Path, *children: dict[str, float]) -> Path:
    """What a killed run leaves: its own record, and those of its children."""
    folder = runs / "killed"
    folder.mkdir(parents=True)
    (folder / "owner.json").write_text(json.dumps(GONE))
    (folder / "children.jsonl").write_text("".join(json.dumps(child) + "\n" for child in children))
    return folder


def record(pid: int, shift: float = 0.0) -> dict[str, float]:
    """A process as a run records it, or as if another had had its id before."""
    return {"pid": pid, "started": psutil.Process(pid).create_time() + shift}


Start = Callable[[Path], "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes that do nothing, each in a folder; ends them after the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start_in(folder: Path) -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen(SLEEPER, cwd=folder))
        return started[-1]

    yield start_in
    for process in started:
        process.kill()
        process.wait()


def test_exactly_the_recorded_orphans_are_ended(start: Start, tmp_path: Path) -> None:
    orphan, stranger = start(ROOT), start(ROOT)
    folder = killed_run(tmp_path, record(orphan.pid), record(stranger.pid, shift=-3600), GONE)
    assert end_orphans(tmp_path) == [orphan.pid]
    assert orphan.poll() is not None
    assert stranger.poll() is None, "a process that came into a recorded id was ended"
    assert not folder.exists()


def test_a_torn_record_does_not_hide_the_others(start: Start, tmp_path: Path) -> None:
    orphan = start(ROOT)
    folder = killed_run(tmp_path, record(orphan.pid))
    with (folder / "children.jsonl").open("a") as records:
        records.write('{"pid": 12')
    assert end_orphans(tmp_path) == [orphan.pid]


def test_an_orphan_whose_record_was_never_written_is_known_by_its_folder(start: Start, tmp_path: Path) -> None:
    folder = killed_run(tmp_path)
    orphan, stranger = start(folder), start(tmp_path)
    assert end_orphans(tmp_path) == [orphan.pid]
    assert stranger.poll() is None
    assert not folder.exists()


def test_a_run_that_lives_keeps_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    processes = open_run_processes()
    try:
        process = processes.start(SLEEPER, log=tmp_path / "log")
        assert end_orphans(download_cache.cache_root() / "runs") == []
        assert process.poll() is None
    finally:
        processes.close()
    assert process.poll() == -9
    assert processes.watchdog.poll() is not None
    assert not processes.folder.exists()
    processes.close()


def test_after_its_end_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    processes = open_run_processes()
    processes.close()
    with pytest.raises(RuntimeError, match="was closed"):
        processes.start(SLEEPER, log=tmp_path / "log")
    assert processes.started == []


KILLED_RUN = """
import os, signal, subprocess, sys
from pathlib import Path
from harness.machine.run_processes import open_run_processes
processes = open_run_processes([sys.argv[1]])
sleeper = [sys.executable, "-c", "import signal; signal.pause()"]
recorded = processes.start(sleeper, log=Path(os.devnull))
unrecorded = subprocess.Popen(sleeper, cwd=processes.folder)
print(recorded.pid, unrecorded.pid, processes.watchdog.pid, processes.folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def runs(pid: int) -> bool:
    """Whether a process has this id; a zombie does not count."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


WATCHDOG_SECONDS = 10
"""It takes one on a calm machine, most of it for Python to start; a busy one must not turn the test red."""


def test_the_watchdog_ends_what_a_run_killed_with_9_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "run_afterwards.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_RUN, "run_afterwards"], stdout=subprocess.PIPE, text=True, check=False
    )
    *pids, folder = killed.stdout.split()
    wait.until(
        lambda: not any(runs(int(pid)) for pid in pids), what="the end of everything", timeout_seconds=WATCHDOG_SECONDS
    )
    assert killed.returncode == -9
    assert not Path(folder).exists()
    assert (tmp_path / "ran").exists()


def test_a_cache_entry_is_whole_or_not_there(tmp_path: Path) -> None:
    def half(draft: Path) -> None:
        (draft / "first").touch()
        raise ValueError("the download broke off")

    with pytest.raises(ValueError, match="broke off"):
        download_cache.create_once(tmp_path / "entry", half)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []
    made = download_cache.create_once(tmp_path / "entry", lambda draft: (draft / "first").touch())
    assert download_cache.create_once(made, half) == tmp_path / "entry"


def test_what_a_killed_download_left_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / ".entry.torn").mkdir()
    download_cache.create_once(tmp_path / "entry", lambda draft: (draft / "first").touch())
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["entry"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_one_sentence(code: int) -> None:
    with raises_user_error(ExitCode.NO_ROOM, r"^the disk is full at /somewhere; "), download_cache.room_needed():
        raise OSError(code, "No space left on device", "/somewhere")


def test_another_error_of_the_disk_is_not_taken_for_a_full_one() -> None:
    with pytest.raises(PermissionError), download_cache.room_needed():
        raise PermissionError(errno.EACCES, "Permission denied")


def test_a_node_that_did_not_start_is_reported_with_its_last_log_lines(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    log.write_text("\n".join(f"line {i}" for i in range(100)))
    error = not_ready("broker-1 ended", log)
    assert error.exit is ExitCode.NOT_READY
    assert "line 99" in str(error)
    assert "line 80" not in str(error)


def test_a_node_that_met_a_full_disk_is_reported_as_such(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.log"
    log.write_text("java.io.IOException: No space left on device\n" + "more\n" * 100)
    assert not_ready("broker-1 ended", log).exit is ExitCode.NO_ROOM


def test_a_nearly_full_disk_is_refused_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_cache, "ROOM_MB", 2**40)
    with raises_user_error(ExitCode.NO_ROOM, "a cluster needs"):
        download_cache.require_room(tmp_path)
