"""Rules that spare what comes first, so that a session gets under way on the Kafka that they break."""

from collections.abc import Iterable, Iterator
from pathlib import Path

EFFECT = "fencepost: takes effect: "
"""What a JVM's log says once of each rule that was not spared any more."""


def sparing(rules: str, until_ms: int, key: str) -> str:
    """The same Byteman rules, each without effect before a moment, then told once in each JVM's log.

    Not by a count: what a broker is asked three times a round would be spared for a session. Byteman's flags are of the
    JVM; ``flag`` tells whether it was not set before, ``traceln`` true (Byteman Programmer's Guide, "Built-In Calls").

    :param until_ms: Since 1970. :param key: Told in the log as well: clusters that follow each other append to one log.
    """
    return "\n".join(_sparing(rules.splitlines(), until_ms, key)) + "\n"


def took_effect(logs: Iterable[Path], key: str) -> frozenset[str]:
    """The names of the rules of that key that these JVMs' logs tell of."""
    return frozenset(name for log in logs if log.exists() for name in _told(log, f"{EFFECT}{key} "))


def _told(log: Path, effect: str) -> Iterator[str]:
    with log.open(encoding="utf-8", errors="replace") as lines:
        yield from (line.partition(effect)[2].strip() for line in lines if effect in line)


def _sparing(lines: list[str], until_ms: int, key: str) -> Iterator[str]:
    name = ""
    for line in lines:
        keyword, _, rest = line.partition(" ")
        name = rest if keyword == "RULE" else name
        yield _condition(rest, name, until_ms, key) if keyword == "IF" else line


def _condition(condition: str, name: str, until_ms: int, key: str) -> str:
    late = f'java.lang.System.currentTimeMillis() > java.lang.Long.parseLong("{until_ms}")'
    name = name.replace('"', "'")  # inside of one of Byteman's strings
    return f'IF {late} && ({condition}) && (!flag("{name}") || traceln("{EFFECT}{key} {name}"))'
