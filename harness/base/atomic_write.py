"""Writing a file whole or not at all."""

from pathlib import Path


def write_atomically(path: Path, text: str) -> Path:
    """Write ``text`` as UTF-8 and move it to ``path`` in one step: a killed writer leaves the old file as it was.

    :return: ``path``.
    """
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    return part.replace(path)
