"""The files that every report consists of: ``report.json`` for machines and ``index.html`` for people."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.base.json_value import Json


def write_report(folder: Path, document: Mapping[str, Json], page: str) -> Path:
    """Write both into ``folder``, each whole or not at all; the absolute path of the page."""
    _write(folder / "report.json", json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return _write(folder / "index.html", page).absolute()


def replay_command(folder: Path) -> str:
    """The command that judges a folder again, offline."""
    return f"fencepost replay {shlex.quote(str(folder.absolute()))}"


def _write(path: Path, text: str) -> Path:
    """Half a surrogate pair, which a broker may answer with, has no UTF-8: it is shown as ``?``."""
    return write_atomically(path, text.encode("utf-8", errors="replace").decode("utf-8"))
