"""What was drawn, read back with its type: a draw goes through JSON, a strike wants numbers and words."""

from collections.abc import Mapping

from harness.base.json_value import Json


def number(chosen: Mapping[str, Json], key: str) -> int:
    """A whole number; :raises ValueError: when something else was drawn."""
    value = chosen[key]
    if not isinstance(value, int):
        raise ValueError(f"{key} is no whole number: {value!r}")
    return value


def numbers(chosen: Mapping[str, Json], key: str) -> list[int]:
    """Whole numbers in their order; :raises ValueError: when something else was drawn."""
    value = chosen[key]
    found = [one for one in value if isinstance(one, int)] if isinstance(value, list) else []
    if found != value:
        raise ValueError(f"{key} is no list of whole numbers: {value!r}")
    return found


def word(chosen: Mapping[str, Json], key: str) -> str:
    """A text; :raises ValueError: when something else was drawn."""
    value = chosen[key]
    if not isinstance(value, str):
        raise ValueError(f"{key} is no text: {value!r}")
    return value


def words(chosen: Mapping[str, Json], key: str) -> tuple[str, ...]:
    """Texts in their order; :raises ValueError: when something else was drawn."""
    value = chosen[key]
    found = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    if found != value:
        raise ValueError(f"{key} is no list of texts: {value!r}")
    return tuple(found)
