"""Processes that a killed run left running, and their end.

A run records the processes that it starts in a folder of its own. What a killed run left is known by these records, or,
where a process was started so late that its record was never written, by its working directory: the run's folder.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

OWNER_FILE = "owner.json"
CHILDREN_FILE = "children.jsonl"
# psutil derives start times from the clock; a clock that is being adjusted moves them by parts of a second.
SAME_START_SECONDS = 1.0
END_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRecord:
    """A process by its id and its start time: ids are used again.

    :param started: Seconds since the epoch; 0 for a process that ended before it could be asked.
    """

    pid: int
    started: float

    @classmethod
    def of(cls, pid: int) -> "ProcessRecord":
        """The record of the process that has this id now."""
        try:
            return cls(pid=pid, started=psutil.Process(pid).create_time())
        except psutil.NoSuchProcess:  # it ended at once; waiting for it will show that
            return cls(pid=pid, started=0.0)

    def process(self) -> psutil.Process | None:
        """The recorded process, if it still runs and no other has got its id."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) < SAME_START_SECONDS
            return process if same and process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None

    def line(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self)) + "\n"


def end_orphans(runs: Path) -> list[int]:
    """End what killed runs left under ``runs`` and remove their folders; the ids of the ended processes."""
    ended: list[int] = []
    for owner in runs.glob(f"*/{OWNER_FILE}"):
        if not any(record.process() for record in _records(owner)):
            ended += end_processes_of(owner.parent)
    return ended


def end_processes_of(folder: Path) -> list[int]:
    """End every process of a run and remove its folder; the ids of the ended processes.

    It looks again after each round: a process may have been about to start.
    """
    ended: list[int] = []
    while orphans := [process for process in _orphans(folder) if process.pid not in ended]:
        end(orphans)
        ended += [process.pid for process in orphans]
    shutil.rmtree(folder, ignore_errors=True)
    return ended


def end(processes: Sequence[psutil.Process]) -> None:
    """Kill processes, and wait until they are gone."""
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(processes, timeout=END_SECONDS)


def runs_in_folder(process: psutil.Process, folder: Path) -> bool:
    """Whether the folder is the process's working directory."""
    try:
        return Path(process.cwd()) == folder
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return False


def _orphans(folder: Path) -> list[psutil.Process]:
    recorded = {process for record in _records(folder / CHILDREN_FILE) if (process := record.process())}
    return list(recorded.union(process for process in psutil.process_iter() if runs_in_folder(process, folder)))


def _records(file: Path) -> Iterator[ProcessRecord]:
    """The records of a file; the last line may be torn, and the file missing: another process may end this run."""
    try:
        lines = file.read_text().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            yield ProcessRecord(**json.loads(line))
        except json.JSONDecodeError:
            continue
