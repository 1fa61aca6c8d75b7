"""The folder of one running cluster or Spark session, and the processes it started: nothing of them outlives the run.

A run that ends, however it ends short of ``kill -9``, ends its children and removes its folder by
:meth:`RunProcesses.close`. What a killed run leaves is ended by its watchdog at once, and by the next start where the
watchdog was killed too; both know it by :mod:`harness.machine.orphans`.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock

import psutil

from harness.base.atomic_write import write_atomically
from harness.machine import download_cache
from harness.machine.orphans import (
    CHILDREN_FILE,
    END_SECONDS,
    OWNER_FILE,
    ProcessRecord,
    end,
    end_orphans,
    runs_in_folder,
)
from harness.machine.watchdog import start_watchdog


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProcesses:
    """A folder under the cache of this run's own, and what was started from it.

    :param watchdog: The child that ends all of it should this process be killed.
    """

    folder: Path
    watchdog: subprocess.Popen[bytes]
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _starting: Lock = field(default_factory=Lock)
    _recording: Lock = field(default_factory=Lock)
    _over: Event = field(default_factory=Event)

    def start(
        self,
        argv: Sequence[str | Path],
        *,
        log: Path,
        errors: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a process that is ours to end; its output is appended to ``log``, its errors to a file of their own.

        Without ``errors`` both go to ``log``. It gets a session of its own: a terminal's Ctrl-C reaches us alone, and
        we end the cluster in our order.

        :raises RuntimeError: When another thread has closed it.
        """
        with self._starting, log.open("ab") as out, (errors or log).open("ab") as err:
            if self._over.is_set():
                raise RuntimeError(f"nothing is started any more: {self.folder} was closed")
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.folder,
                env=environment,
                start_new_session=True,
            )
            self.started.append(process)
        self.record(process.pid)
        return process

    def record(self, pid: int) -> None:
        """Have a process ended should this one be killed; one that others have started they end in all other cases."""
        with self._recording, (self.folder / CHILDREN_FILE).open("a") as records:
            records.write(ProcessRecord.of(pid).line())

    def close(self) -> None:
        """End every process that is still there and remove the folder. May be called twice."""
        self._over.set()
        with self._starting:  # what another thread is starting now is among the started ones, and is ended
            started = tuple(self.started)
        for process in started:
            process.kill()  # the data is thrown away: an orderly shutdown of four nodes would only take time
        for process in started:
            process.wait(END_SECONDS)
        end(self._unrecorded())
        shutil.rmtree(self.folder, ignore_errors=True)
        self._dismiss_watchdog()

    def _unrecorded(self) -> list[psutil.Process]:
        """Children that a Ctrl-C caught between their start and our record of it, known by their folder."""
        return [child for child in psutil.Process().children() if runs_in_folder(child, self.folder)]

    def _dismiss_watchdog(self) -> None:
        self.watchdog.kill()
        self.watchdog.wait(END_SECONDS)
        assert self.watchdog.stdin is not None
        self.watchdog.stdin.close()


def open_run_processes(also_run: Sequence[str] = ()) -> RunProcesses:
    """A new folder with its watchdog, after the orphans of killed runs were ended and their folders removed.

    :param also_run: Modules that the watchdog runs, should this process be killed, when its children are ended.
    """
    runs = download_cache.cache_root() / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    end_orphans(runs)
    download_cache.require_room(runs)
    folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=runs))
    write_atomically(folder / OWNER_FILE, ProcessRecord.of(os.getpid()).line())  # half of it would tell of no owner
    return RunProcesses(folder=folder, watchdog=start_watchdog(folder, also_run))
