"""Where downloads and the records of running clusters live, and how they are made once.

All runs of one user share the cache, so each entry is made in a draft folder beside it and renamed when it is whole,
under a lock: two runs that start together make it once, and a run that is killed half-way leaves nothing that looks
finished. This file alone reads the environment for the cluster.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.user_error import ExitCode, UserError

ROOM_MB = 256  # an archive of classes, four nodes' logs and indexes


def cache_root() -> Path:
    """``$XDG_CACHE_HOME/fencepost``, by default ``~/.cache/fencepost``."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: a relative path is invalid and must be ignored.
    return (Path(chosen) if chosen.startswith("/") else Path.home() / ".cache") / "fencepost"


def engine_named() -> bool:
    """Whether ``$DOCKER_HOST`` names a container engine."""
    return bool(os.environ.get("DOCKER_HOST"))


def create_once(entry: Path, make: Callable[[Path], None]) -> Path:
    """The folder ``entry``; where it is missing, ``make`` fills a draft of it, which is renamed to it."""
    if entry.is_dir():
        return entry
    entry.parent.mkdir(parents=True, exist_ok=True)
    with locked(entry.parent / f".{entry.name}.lock"):
        if not entry.is_dir():
            _make(entry, make)
    return entry


def _make(entry: Path, make: Callable[[Path], None]) -> None:
    for torn in entry.parent.glob(f".{entry.name}.*/"):  # we hold the lock, so the process that began these was killed
        shutil.rmtree(torn, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{entry.name}.", dir=entry.parent))
    try:
        make(draft)
        draft.chmod(0o755)  # mkdtemp's 0700 would keep other users of a shared cache out
        draft.rename(entry)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def locked(lock: Path) -> Iterator[None]:
    """Hold an advisory lock; the kernel releases it if we die, so it can never be stale."""
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def room_needed() -> Iterator[None]:
    """Turn a full disk into a UserError.

    :raises UserError: NO_ROOM, when the body meets a full disk or an exhausted quota.
    """
    try:
        yield
    except OSError as error:
        if not full_disk(error):
            raise
        where = f" at {error.filename}" if error.filename else ""
        raise disk_full_error(where) from error


def full_disk(error: BaseException | None) -> bool:
    """Whether a full disk, or an exhausted quota, is the error or its cause."""
    if error is None:
        return False
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return full or full_disk(error.__cause__ or error.__context__)


def require_room(folder: Path) -> None:
    """Refuse to start where brokers would soon fail on a full disk, each in a way of its own.

    :raises UserError: NO_ROOM.
    """
    free = shutil.disk_usage(folder).free // 2**20
    if free < ROOM_MB:
        raise disk_full_error(f", or nearly ({free} MB are free at {folder}; a cluster needs {ROOM_MB} MB)")


def disk_full_error(where: str) -> UserError:
    """The error for a full disk, also when a child process met it."""
    return UserError(
        f"the disk is full{where}; free some room (the cache is {cache_root()}) and run again", exit=ExitCode.NO_ROOM
    )


def jars_fingerprint(jars: Iterable[Path], *parts: str) -> str:
    """Differs for two sets of jars; file times count, because a JVM refuses an AppCDS archive when they differ."""
    stats = ((jar, jar.stat()) for jar in jars)
    return fingerprint((*parts, *(f"{jar} {stat.st_size} {stat.st_mtime_ns}" for jar, stat in stats)))


def fingerprint(parts: Iterable[str]) -> str:
    """A short name for what an entry was made from."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
