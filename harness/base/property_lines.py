"""Broker properties as people give them: ``key=value`` lines, blank lines and ``#`` comments allowed."""

from collections.abc import Iterable

from harness.base.user_error import ExitCode, UserError


def parse_properties(lines: Iterable[str]) -> dict[str, str]:
    """The properties by key; of two lines with one key the later counts.

    >>> parse_properties(["a=1", "# why", "", "b = x=y"])
    {'a': '1', 'b': 'x=y'}

    :raises UserError: When a line is not ``key=value``.
    """
    found: dict[str, str] = {}
    for line in (line.strip() for line in lines):
        if not line or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise UserError(f"broker property {line!r} is not key=value", exit=ExitCode.USAGE)
        found[key.strip()] = value.strip()
    return found
