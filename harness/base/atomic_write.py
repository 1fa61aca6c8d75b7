"""A file is written whole or not at all."""

from pathlib import Path


def write_whole(path: Path, text: str) -> Path:
    """Write ``text`` as UTF-8 and put it in place in one step; a killed writer leaves the old file as it was."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    return part.replace(path)
