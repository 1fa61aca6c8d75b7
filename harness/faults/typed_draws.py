"""Drawn values read back with their types: a draw goes through JSON, and a strike needs numbers and texts."""

from collections.abc import Mapping
from typing import TypeVar

from harness.base.json_value import Json

Value = TypeVar("Value", int, str)


def number(chosen: Mapping[str, Json], key: str) -> int:
    """A whole number; :raises ValueError: when something else was drawn."""
    return _one(chosen, key, int)


def text(chosen: Mapping[str, Json], key: str) -> str:
    """A text; :raises ValueError: when something else was drawn."""
    return _one(chosen, key, str)


def numbers(chosen: Mapping[str, Json], key: str) -> tuple[int, ...]:
    """Whole numbers in their order; :raises ValueError: when something else was drawn."""
    return _several(chosen, key, int)


def texts(chosen: Mapping[str, Json], key: str) -> tuple[str, ...]:
    """Texts in their order; :raises ValueError: when something else was drawn."""
    return _several(chosen, key, str)


def _one(chosen: Mapping[str, Json], key: str, kind: type[Value]) -> Value:
    value = chosen[key]
    if not isinstance(value, kind):
        raise ValueError(f"{key} is no {kind.__name__}: {value!r}")
    return value


def _several(chosen: Mapping[str, Json], key: str, kind: type[Value]) -> tuple[Value, ...]:
    value = chosen[key]
    found = [one for one in value if isinstance(one, kind)] if isinstance(value, list) else []
    if found != value:
        raise ValueError(f"{key} is no list of {kind.__name__}: {value!r}")
    return tuple(found)
