"""The error for a node that did not come up, with the last lines of its log: they nearly always show why."""

from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.machine import download_cache

LAST_LINES = 12


def not_ready(what: str, log: Path) -> UserError:
    """NOT_READY with the last lines of the log, or NO_ROOM where the log mentions a full disk."""
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    if any("No space left on device" in line for line in lines):
        return download_cache.disk_full_error(f" ({log} tells of it)")
    last = "\n".join(f"  {line}" for line in lines[-LAST_LINES:]) or "  (it wrote nothing)"
    return UserError(f"{what}; the last lines of {log}:\n{last}", exit=ExitCode.NOT_READY)
