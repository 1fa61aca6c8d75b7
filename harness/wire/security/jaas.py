"""``sasl.jaas.config``: one login module with options (Kafka's ``JaasConfig``)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_FLAGS = ("required", "requisite", "sufficient", "optional")
_TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/ | (?P<mark>[=;]) | "(?P<double>(?:\\.|[^"\\])*)" | '(?P<single>(?:\\.|[^'\\])*)'
    | (?P<word>[^\s=;"']+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_UNESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "v": "\v"}


class MalformedJaas(ValueError):
    """The text is no login module; the message says why and quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class LoginModule:
    """:param name: The class without its package: ``PlainLoginModule``."""

    name: str
    options: Mapping[str, str] = field(repr=False)


def parse_jaas(text: str) -> LoginModule:
    """The module and its options.

    >>> parse_jaas('a.b.PlainLoginModule required username="al\\\\"ice" password=x;').options
    {'username': 'al"ice', 'password': 'x'}

    :raises MalformedJaas: When it is not exactly one login module with a flag, options and a semicolon.
    """
    tokens = list(_tokens(text))
    if len(tokens) < 3 or tokens[1].lower() not in _FLAGS:
        raise MalformedJaas('it is not `LoginModule required option="value" …;`')
    if tokens[-1] != ";":
        raise MalformedJaas("its semicolon at the end is missing")
    return LoginModule(tokens[0].rpartition(".")[2], dict(_options(tokens[2:-1])))


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise MalformedJaas("a quote is not closed")
        position = found.end()
        quoted = found["double"] if found["double"] is not None else found["single"]
        if quoted is not None:
            yield _ESCAPE.sub(_character, quoted)
        elif token := found["mark"] or found["word"]:
            yield token


def _options(tokens: list[str]) -> Iterator[tuple[str, str]]:
    if len(tokens) % 3 or any(mark != "=" for mark in tokens[1::3]):
        raise MalformedJaas('its options are not option="value"')
    return zip(tokens[::3], tokens[2::3], strict=True)


def _character(found: re.Match[str]) -> str:
    escaped = found[1]
    return chr(int(escaped, 8)) if escaped.isdigit() and escaped < "8" else _UNESCAPED.get(escaped, escaped)
