"""Where downloads and the records of running clusters live, and how they are made once.

Everything outlives a checkout and is shared by all runs of one user, so each entry is made in a draft beside its place
and renamed there whole, under a lock: two runs that start together make it once, and a run that is killed half-way
leaves nothing that looks finished. The only file of the cluster package that reads the environment.
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

ROOM = 256  # megabytes: an archive of classes, four nodes' logs and indexes


def cache_root() -> Path:
    """``$XDG_CACHE_HOME/fencepost``, by default ``~/.cache/fencepost``."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: a relative path is invalid and must be ignored.
    return (Path(chosen) if chosen.startswith("/") else Path.home() / ".cache") / "fencepost"


def engine_named() -> bool:
    """Whether the user names a container engine of his own (``$DOCKER_HOST``)."""
    return bool(os.environ.get("DOCKER_HOST"))


def made_once(place: Path, make: Callable[[Path], None]) -> Path:
    """``place``, a folder; where it is missing, ``make`` fills a draft of it first."""
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with locked(place.parent / f".{place.name}.lock"):
        if not place.is_dir():
            _make(place, make)
    return place


def _make(place: Path, make: Callable[[Path], None]) -> None:
    for torn in place.parent.glob(f".{place.name}.*/"):  # we hold the lock, so whoever began these was killed
        shutil.rmtree(torn, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        make(draft)
        draft.chmod(0o755)  # mkdtemp's 0700 would keep other users of a shared cache out
        draft.rename(place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def locked(lock: Path) -> Iterator[None]:
    """Hold an advisory lock; the kernel lets go of it if we die, so it can never be stale."""
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def room_needed() -> Iterator[None]:
    """Turn a full disk into one sentence.

    :raises Trouble: NO_ROOM, when the body meets a full disk or an exhausted quota.
    """
    try:
        yield
    except OSError as error:
        if not full_disk(error):
            raise
        where = f" at {error.filename}" if error.filename else ""
        raise no_room(where) from error


def full_disk(error: BaseException | None) -> bool:
    """Whether a full disk, or an exhausted quota, is what went wrong, or what brought it about."""
    if error is None:
        return False
    met = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return met or full_disk(error.__cause__ or error.__context__)


def require_room(folder: Path) -> None:
    """Refuse to start where brokers would soon die of a full disk, each in a way of its own.

    :raises Trouble: NO_ROOM.
    """
    free = shutil.disk_usage(folder).free // 2**20
    if free < ROOM:
        raise no_room(f", or nearly ({free} MB are free at {folder}; a cluster needs {ROOM} MB)")


def no_room(where: str) -> UserError:
    """The sentence for a full disk, also when it was a child process that met it."""
    return UserError(
        f"the disk is full{where}; free some room (the cache is {cache_root()}) and run again", exit=ExitCode.NO_ROOM
    )


def fingerprint(parts: Iterable[str]) -> str:
    """A short name for what an entry was made from."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
