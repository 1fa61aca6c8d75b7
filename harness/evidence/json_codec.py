"""Evidence and exchanges to JSON and back, strict both ways: malformed evidence is refused with the place named."""

import dataclasses
import enum
import json
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")


class Malformed(Exception):
    """The JSON is not what this version writes; the text names the field."""


def to_json(value: object) -> str:
    """One line of JSON for a frozen dataclass of ours."""
    return json.dumps(value, default=_plain, separators=(",", ":"), ensure_ascii=False)


def from_json(kind: type[Value], text: str) -> Value:
    """Read back what :func:`to_json` wrote.

    :raises Malformed: When the text is not JSON, or does not have the fields of ``kind``.
    """
    try:
        return from_plain(kind, json.loads(text))
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON: {error}") from error


def from_plain(kind: type[Value], plain: object) -> Value:
    """A dataclass of ours from parsed JSON; :raises Malformed: when a field is missing, unknown or of another type."""
    value: Value = _read(kind, plain, kind.__name__)
    return value


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no place in evidence")


def _read(kind: Any, plain: object, where: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _read_dataclass(typing.cast(type, kind), plain, where)
    if origin in (typing.Union, types.UnionType):
        return _read_union(arguments, plain, where)
    if origin is tuple:
        return tuple(_read(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(_typed(list, plain, where)))
    if origin is typing.Literal:
        return _one_of(arguments, plain, where)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _read(arguments[1], item, f"{where}.{key}") for key, item in _typed(dict, plain, where).items()}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(_one_of(tuple(member.value for member in kind), plain, where))
    if kind is float:
        return float(_typed((int, float), plain, where))
    if isinstance(kind, type):
        return _typed(kind, plain, where)
    return plain  # Json: any JSON is right


def _read_dataclass(kind: type, plain: object, where: str) -> object:
    given = _typed(dict, plain, where)
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    if unknown := given.keys() - fields.keys():
        raise Malformed(f"{where} has unknown fields {sorted(unknown)}")
    required = {
        name
        for name, field in fields.items()
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    if missing := required - given.keys():
        raise Malformed(f"{where} lacks {sorted(missing)}")
    return kind(**{name: _read(hints[name], item, f"{where}.{name}") for name, item in given.items()})


def _read_union(kinds: tuple[Any, ...], plain: object, where: str) -> object:
    if plain is None and type(None) in kinds:
        return None
    rest = [kind for kind in kinds if kind is not type(None)]
    return _read(rest[0], plain, where) if len(rest) == 1 else plain


def _one_of(allowed: tuple[Any, ...], plain: object, where: str) -> object:
    if plain not in allowed:
        raise Malformed(f"{where} is {plain!r}, not one of {list(allowed)}")
    return plain


def _typed(kind: Any, plain: object, where: str) -> Any:
    if not isinstance(plain, kind) or (isinstance(plain, bool) and kind in (int, (int, float))):
        raise Malformed(f"{where} is {type(plain).__name__}, not {kind}")
    return plain
