"""What chaos found, in words for a person: anomalies, partitions, moments and outcomes."""

from collections.abc import Mapping, Sequence

from harness.base.json_value import Json
from harness.base.kafka_error import error_name
from harness.evidence.history.anomalies import find_anomalies
from harness.report.shared.words import duration, label, short


def broken_words(anomalies: Sequence[str]) -> str:
    """The anomalies as one phrase, at most three of them in words, in their order of precedence.

    >>> broken_words(["stuck-lso", "hanging-transaction"])
    'leaves transactions hanging and leaves the last stable offset stuck'
    >>> broken_words(["a", "b", "c", "d"])
    'shows “a”, shows “b”, shows “c” and 1 anomaly more'
    """
    known = find_anomalies()
    phrases = [known[name].phrase if name in known else f"shows “{name}”" for name in in_order(anomalies)]
    if len(phrases) > 3:
        more = len(phrases) - 3
        phrases = [*phrases[:3], f"{more} {'anomaly' if more == 1 else 'anomalies'} more"]
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def in_order(anomalies: Sequence[str]) -> list[str]:
    """Anomalies by precedence; unknown ones last, by name."""
    known = list(find_anomalies())
    return sorted(set(anomalies), key=lambda name: (known.index(name) if name in known else len(known), name))


def moment_of(at: float, start: float = 0.0) -> str:
    """A moment of the run: seconds since its start, to the millisecond.

    >>> moment_of(9300.25), moment_of(62_000.0)
    ('9.300 s', '62.000 s')
    """
    return f"{(at - start) / 1000:,.3f} s"


def answered(outcome: str, error: Json, reason: str = "") -> str:
    """An outcome with Kafka's error: ``refused INVALID_PRODUCER_EPOCH (47)``."""
    if isinstance(error, int) and not isinstance(error, bool) and error != 0:
        return f"{outcome} {error_name(error)} ({error})"
    return f"{outcome}, {reason}" if reason and outcome != "done" else outcome


def text(value: Json, width: int = 120) -> str:
    """A field of a plain row on one line; empty for null."""
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else short(str(value), width)


def number(value: Json) -> float:
    """A field of a plain row as a number; 0 where it is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def tail(text_: str, width: int) -> str:
    """At most ``width`` characters, the last ones: the end of a topic-partition is more specific than its beginning.

    >>> tail("fp-8128-accounts-1", 11)
    '…accounts-1'
    """
    return text_ if len(text_) <= width else "…" + text_[len(text_) - width + 1 :]


def times(count: int) -> str:
    """``×41``, or nothing for one."""
    return f" ×{count:,}" if count > 1 else ""


def tallied(found: Mapping[str, int]) -> str:
    """How many came to each conclusion, in words.

    >>> tallied({"VIOLATED": 1, "HOLDS": 5})
    '1 violated, 5 hold'
    """
    words = {"HOLDS": "hold"}
    return ", ".join(
        f"{number} {words.get(status, '') if number > 1 and status in words else label(status).lower()}"
        for status, number in found.items()
    )


def took(started: Json, ended: Json) -> str:
    """How long from one field of a row to another."""
    return duration(number(ended) - number(started))
