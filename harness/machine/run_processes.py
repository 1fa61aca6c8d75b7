"""The folder of one running cluster or Spark session, and the processes it started: nothing of them outlives the run.

A run that ends, however it ends short of ``kill -9``, ends its children and removes its folder by
:meth:`RunProcesses.close`. A run that was killed leaves both behind; the next start finds them by the folder's records
(process id and start time, because ids are used again), or by the folder, in which they work, and ends exactly those.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from harness.machine import download_cache

OWNER = "owner.json"
CHILDREN = "children.jsonl"
# psutil derives start times from the clock; a clock that is being adjusted moves them by parts of a second.
SAME_START = 1.0
ENDING = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProcesses:
    """A folder under the cache of this run's own; ``processes`` are those that were started from it."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(
        self, argv: Sequence[str | Path], *, log: Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a process that is ours to end; what it says is appended to ``log``.

        It gets a session of its own: a terminal's Ctrl-C reaches us alone, and we end the cluster in our order.
        """
        with log.open("ab") as out:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=environment,
                start_new_session=True,
            )
        self.processes.append(process)
        with (self.folder / CHILDREN).open("a") as records:
            records.write(_record(process.pid) + "\n")
        return process

    def close(self) -> None:
        """End every process that is still there and remove the folder. May be called twice."""
        for process in self.processes:
            process.kill()  # the data is thrown away: an orderly shutdown of four nodes would only take time
        for process in self.processes:
            process.wait(ENDING)
        _end(self._unrecorded())
        shutil.rmtree(self.folder, ignore_errors=True)

    def _unrecorded(self) -> list[psutil.Process]:
        """Children that a Ctrl-C caught between their start and our record of it, known by their folder."""
        return [child for child in psutil.Process().children() if _works_in(child, self.folder)]


def open_run_processes() -> RunProcesses:
    """A new folder, after the orphans of killed runs were ended and their folders removed."""
    runs = download_cache.cache_root() / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    end_orphans(runs)
    download_cache.require_room(runs)
    folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=runs))
    (folder / OWNER).write_text(_record(os.getpid()))
    return RunProcesses(folder=folder)


def end_orphans(runs: Path) -> list[int]:
    """End what killed runs left under ``runs`` and remove their folders; the ids of the ended processes."""
    ended: list[int] = []
    for owner in runs.glob(f"*/{OWNER}"):
        if not any(map(alive, _records(owner))):
            orphans = _orphans(owner.parent)
            ended += [process.pid for process in orphans]
            _end(orphans)
            shutil.rmtree(owner.parent, ignore_errors=True)
    return ended


def _orphans(folder: Path) -> list[psutil.Process]:
    """What was recorded, and what was started so late that its record was never written."""
    recorded = {process for record in _records(folder / CHILDREN) if (process := alive(record))}
    return list(recorded.union(process for process in psutil.process_iter() if _works_in(process, folder)))


def _end(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(processes, timeout=ENDING)


def born(pid: int) -> Mapping[str, float]:
    """A process's id and start time, by which it is told from another that comes into its id."""
    try:
        return {"pid": pid, "started": psutil.Process(pid).create_time()}
    except psutil.NoSuchProcess:  # it ended at once; whoever waits for it will say so
        return {"pid": pid, "started": 0.0}


def _record(pid: int) -> str:
    return json.dumps(born(pid))


def _records(file: Path) -> Iterator[Mapping[str, float]]:
    """The records of a file; the last line may be torn, because its writer was killed."""
    lines = file.read_text().splitlines() if file.is_file() else []
    for line in lines:
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def alive(record: Mapping[str, float]) -> psutil.Process | None:
    """The recorded process, if it still runs and no other has come into its id."""
    try:
        process = psutil.Process(int(record["pid"]))
        same = abs(process.create_time() - record["started"]) < SAME_START
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except psutil.NoSuchProcess:
        return None


def _works_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return Path(process.cwd()) == folder
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return False
