"""Rules that spare what comes first, so that a session gets under way on the Kafka that they break."""

from collections.abc import Iterator


def sparing(rules: str, times: int) -> str:
    """The same Byteman rules, each without effect the first ``times`` times in each JVM.

    Byteman's counters are of the JVM, begin at 0, and ``incrementCounter`` gives the new value (Byteman Programmer's
    Guide, "Built-In Calls").
    """
    return "\n".join(_sparing(rules.splitlines(), times)) + "\n"


def _sparing(lines: list[str], times: int) -> Iterator[str]:
    name = ""
    for line in lines:
        keyword, _, rest = line.partition(" ")
        name = rest if keyword == "RULE" else name
        yield f'IF ({rest}) && incrementCounter("{name}") > {times}' if keyword == "IF" else line
