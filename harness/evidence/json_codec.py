"""Our dataclasses to JSON and back by msgspec, strict both ways.

msgspec refuses a field that is missing or of another type, and runs ``__post_init__``; a field that the dataclass does
not have it ignores, so that is looked for here.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar, cast

import msgspec

from harness.base.json_value import Json

Value = TypeVar("Value")


class Malformed(Exception):
    """The JSON is not what this version writes; the text names the field, counted from ``$`` for the whole."""


def to_json(value: object) -> str:
    """One line of JSON for a dataclass of ours."""
    return _ENCODER.encode(value).decode()


def to_json_lines(values: Iterable[object]) -> bytes:
    """A line of JSON for each, with its newline, in UTF-8."""
    return _ENCODER.encode_lines(values)


def to_plain(value: object) -> Json:
    """A dataclass of ours as parsed JSON: dicts, lists and scalars."""
    return _lists(msgspec.to_builtins(value, str_keys=True, enc_hook=_dict))


def from_json(kind: type[Value], text: str | bytes) -> Value:
    """Read back what :func:`to_json` wrote.

    :raises Malformed: When the text is not JSON, or does not have the fields of ``kind``.
    """
    try:
        return from_plain(kind, msgspec.json.decode(text))
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8: {error}") from error
    except msgspec.DecodeError as error:
        raise Malformed(f"not JSON: {error}") from error


def from_json_file(kind: type[Value], path: Path) -> Value | None:
    """As :func:`from_json`; None where there is no such file.

    :raises Malformed: Likewise; the text begins with the file's name.
    """
    if not path.is_file():
        return None
    try:
        return from_json(kind, path.read_bytes())
    except Malformed as error:
        raise Malformed(f"{path.name}: {error}") from error


def part_of_json(kind: type[Value], text: bytes) -> Value:
    """As :func:`from_json`, several times as fast, and fields that ``kind`` does not have are passed over."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise Malformed(str(error)) from error


def from_plain(kind: type[Value], plain: object) -> Value:
    """A dataclass of ours from parsed JSON; :raises Malformed: when a field is missing, unknown or of another type."""
    try:
        value = msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise Malformed(str(error)) from error
    known = msgspec.to_builtins(value, str_keys=True, enc_hook=_dict)
    if unknown := _unknown(plain, known, "$"):
        raise Malformed(f"Object has an unknown field - at `{unknown}`")
    return value


def _dict(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no place in evidence")


def _lists(plain: object) -> Json:
    match plain:
        case dict():
            return {name: _lists(item) for name, item in plain.items()}
        case list() | tuple():
            return [_lists(item) for item in plain]
    return cast(Json, plain)


def _unknown(given: object, known: object, where: str) -> str | None:
    """The path of the first field that is given and not known; a known one need not be given, it has a default."""
    if given == known:
        return None
    inner: Iterable[tuple[object, object, str]] = ()
    match given, known:
        case dict(), dict():
            if unknown := next((name for name in given if name not in known), None):
                return f"{where}.{unknown}"
            inner = ((item, known[name], f"{where}.{name}") for name, item in given.items())
        case list(), list() | tuple():
            inner = ((*pair, f"{where}[{place}]") for place, pair in enumerate(zip(given, known, strict=True)))
    return next(filter(None, (_unknown(*each) for each in inner)), None)


_ENCODER = msgspec.json.Encoder(enc_hook=_dict)
