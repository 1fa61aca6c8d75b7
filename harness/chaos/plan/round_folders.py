"""Which folders hold chaos: a round, or a session of rounds; asked before Spark is started."""

import json
from pathlib import Path


def is_chaos(folder: Path) -> bool:
    """Whether the folder holds a round of chaos, or a session of rounds."""
    return bool(rounds_of(folder))


def rounds_of(folder: Path) -> tuple[Path, ...]:
    """The round folders: the folder itself, or those below it; none where it is something else."""
    if (folder / "history").is_dir() or _kind(folder / "run.json") == "chaos":
        return (folder,)
    return tuple(sorted(path.parent for path in folder.glob("*/history") if path.is_dir()))


def _kind(path: Path) -> object:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return said.get("kind") if isinstance(said, dict) else None
