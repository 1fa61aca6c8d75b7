"""Plain values as TOML, for files that people edit: Python reads TOML and does not write it."""

import json
from collections.abc import Iterator, Mapping

from harness.base.json_value import Json


def toml(document: Mapping[str, Json]) -> str:
    """A document of scalars and lists of tables; a mapping within a table is written inline, and None left out.

    >>> print(toml({"seed": 7, "roles": [{"name": "writer-0", "client": None}]}), end="")
    seed = 7
    <BLANKLINE>
    [[roles]]
    name = "writer-0"
    """
    tables = {name: value for name, value in document.items() if _is_tables(value)}
    plain = {name: value for name, value in document.items() if name not in tables}
    blocks = ["".join(_lines(plain))] if plain else []
    for name, rows in tables.items():
        blocks += [f"[[{_key(name)}]]\n" + "".join(_lines(row)) for row in rows]  # type: ignore[union-attr,arg-type]
    return "\n".join(blocks)


def _is_tables(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _lines(table: Mapping[str, Json]) -> Iterator[str]:
    yield from (f"{_key(name)} = {_value(value)}\n" for name, value in table.items() if value is not None)


def _value(value: Json) -> str:
    match value:
        case dict():
            inner = [f"{_key(name)} = {_value(each)}" for name, each in value.items() if each is not None]
            return f"{{{', '.join(inner)}}}"
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
    return repr(value)


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else _text(name)


def _text(value: str) -> str:
    """JSON's escapes are TOML's, but for the one character that JSON does not escape."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
