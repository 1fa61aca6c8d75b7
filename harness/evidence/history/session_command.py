"""The one command that runs all rounds of a session again, kept in ``session.json`` beside the rounds' folders."""

import json
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.base.user_error import ExitCode, UserError

SESSION = "session.json"


def keep_command(folder: Path, command: str) -> None:
    """Write the file."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / SESSION, json.dumps({"command": command}, ensure_ascii=False) + "\n")


def kept_command(folder: Path) -> str:
    """The command; empty where the folder keeps none, as that of a single round.

    :raises UserError: When the file cannot be understood.
    """
    path = folder / SESSION
    if not path.is_file():
        return ""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["command"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} cannot be read: {error}", exit=ExitCode.EVIDENCE_UNREADABLE) from error
