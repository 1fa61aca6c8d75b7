"""The sentence for a node that did not come up: its last words, because they nearly always say why."""

from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.machine import download_cache

LINES = 12


def not_ready(what: str, log: Path) -> UserError:
    """NOT_READY with the last lines of the log, or NO_ROOM where they tell of a full disk."""
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    if any("No space left on device" in line for line in lines):
        return download_cache.no_room(f" ({log} tells of it)")
    said = "\n".join(f"  {line}" for line in lines[-LINES:]) or "  (it wrote nothing)"
    return UserError(f"{what}; the last lines of {log}:\n{said}", exit=ExitCode.NOT_READY)
