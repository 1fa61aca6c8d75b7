"""Rules that spare what comes first, so that a session gets under way on the Kafka that they break."""

from collections.abc import Iterable, Iterator
from pathlib import Path

EFFECT = "fencepost: takes effect: "
"""What a JVM's log says once of each rule that was not spared any more."""


def sparing(rules: str, until_ms: int) -> str:
    """The same Byteman rules, each without effect before a moment, then told once in each JVM's log.

    Not by a count: what a broker is asked three times a round would be spared for a session. Byteman's flags are of the
    JVM; ``flag`` tells whether it was not set before, ``traceln`` true (Byteman Programmer's Guide, "Built-In Calls").

    :param until_ms: Since 1970.
    """
    return "\n".join(_sparing(rules.splitlines(), until_ms)) + "\n"


def took_effect(logs: Iterable[Path]) -> frozenset[str]:
    """The names of the rules that these JVMs' logs tell of."""
    return frozenset(name for log in logs if log.exists() for name in _told(log))


def _told(log: Path) -> Iterator[str]:
    with log.open(encoding="utf-8", errors="replace") as lines:
        yield from (line.partition(EFFECT)[2].strip() for line in lines if EFFECT in line)


def _sparing(lines: list[str], until_ms: int) -> Iterator[str]:
    name = ""
    for line in lines:
        keyword, _, rest = line.partition(" ")
        name = rest if keyword == "RULE" else name
        yield _condition(rest, name, until_ms) if keyword == "IF" else line


def _condition(condition: str, name: str, until_ms: int) -> str:
    late = f'java.lang.System.currentTimeMillis() > java.lang.Long.parseLong("{until_ms}")'
    return f'IF {late} && ({condition}) && (!flag("{name}") || traceln("{EFFECT}{name}"))'
