"""Checks of a file of JSON lines: is its last line torn, as a killed writer leaves it, and which line is bad."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from harness.evidence.json_codec import Malformed, from_json

BLOCK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that is not what the format demands; ``number`` from 1."""

    number: int
    reason: str


def torn_last_line(path: Path) -> str | None:
    """A sentence on the last line when it is not JSON, as a writer leaves it that is killed while it writes.

    A last line that is whole but for its newline is not torn.
    """
    last = _last_line(path)
    try:
        msgspec.json.decode(last or b"null")
    except ValueError:
        return f"{path.name}: the torn last line {_count(path)} ({len(last)} bytes) was dropped"
    return None


def first_bad_line(path: Path, kind: type, *, torn: bool) -> BadLine | None:
    """The first line that :func:`harness.evidence.json_codec.from_json` refuses; ``torn`` leaves the last one out.

    :param kind: The dataclass of the table.
    """
    held: tuple[int, bytes] | None = None
    for number, line in _lines(path):
        if held and (found := _bad(held, kind)):
            return found
        held = (number, line)
    return None if held is None or torn else _bad(held, kind)


def _bad(numbered: tuple[int, bytes], kind: type) -> BadLine | None:
    number, line = numbered
    try:
        from_json(kind, line)
    except Malformed as error:
        return BadLine(number=number, reason=str(error))
    return None


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line


def _last_line(path: Path) -> bytes:
    """The last line that is not blank, without its newline; empty for a file without lines."""
    with path.open("rb") as stream:
        at = stream.seek(0, 2)
        tail = b""
        while at and b"\n" not in tail.strip():
            step = min(BLOCK_BYTES, at)
            at = stream.seek(at - step)
            tail = stream.read(step) + tail
        return tail.strip().rpartition(b"\n")[2]


def _count(path: Path) -> int:
    return max((number for number, _ in _lines(path)), default=0)
