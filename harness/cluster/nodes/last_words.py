"""The sentence for a node that did not come up: its last words, because they nearly always say why."""

from pathlib import Path

from harness.cluster import cache
from harness.trouble import Exit, Trouble

LINES = 12


def not_ready(what: str, log: Path) -> Trouble:
    """NOT_READY with the last lines of the log, or NO_ROOM where they tell of a full disk."""
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    if any("No space left on device" in line for line in lines):
        return cache.no_room(f" ({log} tells of it)")
    said = "\n".join(f"  {line}" for line in lines[-LINES:]) or "  (it wrote nothing)"
    return Trouble(f"{what}; the last lines of {log}:\n{said}", exit=Exit.NOT_READY)
