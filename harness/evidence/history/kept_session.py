"""What a session of chaos keeps beside its rounds' folders, in ``session.json``.

The one command that runs all rounds again, and the times of the earlier session that it is compared with, so that its
page can be made again without that one.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.base.json_value import Json
from harness.base.user_error import ExitCode, UserError

SESSION = "session.json"


def keep_session(folder: Path, command: str, earlier: Mapping[str, Json] | None = None) -> None:
    """Write the file; ``earlier`` has ``name`` and ``times`` of the earlier session."""
    folder.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Json] = {"command": command, **({"earlier": dict(earlier)} if earlier else {})}
    write_atomically(folder / SESSION, json.dumps(kept, ensure_ascii=False) + "\n")


def kept_session(folder: Path) -> Mapping[str, Json]:
    """What the folder keeps; nothing where there is no such file, as in that of a single round.

    :raises UserError: When the file cannot be understood.
    """
    path = folder / SESSION
    if not path.is_file():
        return {}
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}", exit=ExitCode.EVIDENCE_UNREADABLE) from error
    return kept if isinstance(kept, dict) else {}
