"""Checks of a file of JSON lines: is its last line torn, as a killed writer leaves it, and which line is bad."""

import typing
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated

import msgspec

from harness.evidence.json_codec import Malformed, from_json

BLOCK_BYTES = 1 << 16
LONG = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
"""A whole number that a column of 64 bits can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLine:
    """A line that is not what the format demands; ``number`` from 1."""

    number: int
    reason: str


def torn_last_line(path: Path) -> str | None:
    """A sentence on the last line when it is not JSON, as a writer leaves it that is killed while it writes.

    A last line that is whole but for its newline is not torn.
    """
    _, last = _last_line(path)
    try:
        msgspec.json.decode(last or b"null")
    except ValueError:
        return f"{path.name}: the torn last line {_count(path)} ({len(last)} bytes) was dropped"
    return None


def whole_bytes(path: Path, *, torn: bool) -> int:
    """Bytes of a file up to the end of its last line that is whole; 0 where all are blank."""
    start, last = _last_line(path)
    end = start if torn else path.stat().st_size
    return end if last and (not torn or _last_line(path, end)[1]) else 0


def first_misfit(path: Path, kind: type, *, torn: bool) -> BadLine | None:
    """The first line that has not the columns of ``kind`` or not their types; ``torn`` leaves the last one out.

    A million lines take half a second or so. What a line means is not looked at: see :func:`first_bad_line`.

    :param kind: The dataclass of the table, whose fields are numbers, texts and truth values.
    """
    fit = msgspec.json.Decoder(_columns(kind)).decode

    def misfit(numbered: tuple[int, bytes]) -> BadLine | None:
        try:
            fit(numbered[1])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _bad(numbered, kind) or BadLine(number=numbered[0], reason=str(error))
        return None

    return _first(path, misfit, torn=torn)


def first_bad_line(path: Path, kind: type, *, torn: bool) -> BadLine | None:
    """The first line that :func:`harness.evidence.json_codec.from_json` refuses; ``torn`` leaves the last one out.

    :param kind: The dataclass of the table.
    """
    return _first(path, lambda numbered: _bad(numbered, kind), torn=torn)


def _first(path: Path, bad: Callable[[tuple[int, bytes]], BadLine | None], *, torn: bool) -> BadLine | None:
    """The first line that is bad; a torn one counts only where others come behind it."""
    found: BadLine | None = None
    for numbered in _lines(path):
        if found is not None:
            return found
        found = bad(numbered)
    return None if torn else found


def _bad(numbered: tuple[int, bytes], kind: type) -> BadLine | None:
    number, line = numbered
    try:
        from_json(kind, line)
    except Malformed as error:
        return BadLine(number=number, reason=str(error))
    return None


def _columns(kind: type) -> type[msgspec.Struct]:
    """The dataclass without its ``__post_init__``, and strict about fields that it does not have."""
    hints = typing.get_type_hints(kind)
    columns = [(field.name, _column(hints[field.name]), field.default) for field in fields(kind)]
    plain = [(name, hint) if default is MISSING else (name, hint, default) for name, hint, default in columns]
    return msgspec.defstruct(kind.__name__, plain, kw_only=True, forbid_unknown_fields=True)


def _column(hint: object) -> object:
    if hint is int:
        return LONG
    return LONG | None if hint == int | None else hint


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line


def _last_line(path: Path, end: int | None = None) -> tuple[int, bytes]:
    """Where the last line begins that is not blank, and that line without its newline; empty for a file without lines.

    :param end: Bytes of the file that are looked at; None for all.
    """
    with path.open("rb") as stream:
        at = stream.seek(0, 2) if end is None else end
        tail = b""
        while at and b"\n" not in tail.strip():
            step = min(BLOCK_BYTES, at)
            at = stream.seek(at - step)
            tail = stream.read(step) + tail
        start = tail.rstrip().rfind(b"\n") + 1
        return at + start, tail[start:].strip()


def _count(path: Path) -> int:
    return max((number for number, _ in _lines(path)), default=0)
