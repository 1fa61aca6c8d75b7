"""Lets the writes of one process fail, as on a full disk, while the disk itself has room for all others."""

import psutil


def fill_disk_of(pid: int) -> None:
    """No file of the process may be longer than nothing (``setrlimit``, RLIMIT_FSIZE): every write fails with EFBIG."""
    process = psutil.Process(pid)
    _, hard = process.rlimit(psutil.RLIMIT_FSIZE)
    process.rlimit(psutil.RLIMIT_FSIZE, (0, hard))
