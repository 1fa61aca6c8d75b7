"""Java's properties files (``java.util.Properties.load``), which Kafka's tools take by ``--command-config``."""

import re

_UNESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ENTRY = re.compile(r"((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


def read_properties(text: str) -> dict[str, str]:
    r"""The values by key; of two lines with one key the later counts.

    >>> read_properties("# why\na.b = 1\\\n   2\nc:\\u0041\\=\n! no\nd")
    {'a.b': '12', 'c': 'A=', 'd': ''}
    """
    found: dict[str, str] = {}
    for line in _logical_lines(text):
        match = _ENTRY.fullmatch(line)
        if match is not None:
            found[_unescaped(match[1])] = _unescaped(match[2])
    return found


def _logical_lines(text: str) -> list[str]:
    """Without comments; a line that ends in an odd number of backslashes goes on in the next."""
    lines: list[str] = []
    goes_on = False
    for natural in re.split(r"\r\n|[\r\n]", text):
        stripped = natural.lstrip(" \t\f")
        if not goes_on and (not stripped or stripped[0] in "#!"):
            continue
        backslashes = len(stripped) - len(stripped.rstrip("\\"))
        content = stripped[:-1] if backslashes % 2 else stripped
        if goes_on:
            lines[-1] += content
        else:
            lines.append(content)
        goes_on = backslashes % 2 == 1
    return lines


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _UNESCAPED.get(found[2], found[2]), text)
