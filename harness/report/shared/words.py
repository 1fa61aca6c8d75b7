"""The words of the report: how statuses, durations and values are written for a person."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime

from harness.base.json_value import Json
from harness.contract.expect import Finding
from harness.contract.level import Level
from harness.contract.verdict import Status

_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"})  # control, direction, no character, line separators

NOT_JUDGED = "NOT_JUDGED"
"""Shown for a requirement without a verdict: the run ended before it. It is no :class:`Status`; nothing was judged."""

DIFFERS = "DIFFERS"
"""How VIOLATED is shown where the profile does not ask for what is broken: only a habit of Kafka's is not kept."""

KAFKA = "Kafka"
JAVA_CLIENT = "the Java client"
"""Whose ways a kept promise may differ from: a broker's from Kafka's, a client's from those of Kafka's own client."""

ORDER: Sequence[str] = (
    *(Status.VIOLATED.value, Status.UNDECIDED.value, Status.NOT_EXERCISED.value, NOT_JUDGED, DIFFERS),
    *(Status.OUT_OF_REACH.value, Status.NOT_OFFERED.value, Status.HOLDS.value),
)
"""Statuses, the worst first: the order of lists, and which of two verdicts on one requirement counts."""

_LABELS: Mapping[str, str] = {
    "HOLDS": "Holds",
    "VIOLATED": "Violated",
    "UNDECIDED": "Undecided",
    "NOT_EXERCISED": "Not exercised",
    "OUT_OF_REACH": "Out of reach",
    "NOT_OFFERED": "Not offered",
    NOT_JUDGED: "Not judged",
    DIFFERS: "Differs",
}

_MEANINGS: Mapping[str, str] = {
    "HOLDS": "tried, and held",
    "VIOLATED": "tried, and broken",
    "UNDECIDED": "the evidence is ambiguous",
    "NOT_EXERCISED": "the situation never came about",
    "OUT_OF_REACH": "nobody may, or can from here, bring the situation about on this target",
    "NOT_OFFERED": "the target does not advertise what it needs",
    NOT_JUDGED: "the run ended before it",
    DIFFERS: "differs from Kafka, keeps the KIP",
}


_ACCESS: Mapping[str, str] = {
    "lanes": "proxies between clients and brokers",
    "links": "proxies between brokers",
    "brokers": "a second broker",
    "changes": "--allow-changes on a cluster that is not ours",
    "load": "--allow-load on a cluster that is not ours",
    "metrics": "metrics of its brokers",
    "tool": "its command line tools",
}


def access_words(access: Sequence[str]) -> str:
    """What a requirement needs beyond topics and ids of its own, for a person; empty where it needs nothing.

    >>> access_words(("links", "brokers"))
    'proxies between brokers, a second broker'
    """
    return ", ".join(_ACCESS.get(need, need) for need in access)


def label(status: str) -> str:
    """``Not exercised`` for ``NOT_EXERCISED``."""
    return _LABELS.get(status, status)


def title(status: str, than: str = KAFKA) -> str:
    """The status where there is room for a phrase.

    >>> title("NOT_EXERCISED"), title("DIFFERS")
    ('Not exercised', 'Differs from Kafka, keeps the KIP')
    """
    return meaning(status, than).replace("differs", "Differs") if status == DIFFERS else label(status)


def meaning(status: str, than: str = KAFKA) -> str:
    """What the status means for the promise, as half a sentence."""
    told = _MEANINGS.get(status, "")
    return told.replace(KAFKA, than) if status == DIFFERS else told


def slug(status: str) -> str:
    """``not-exercised`` for ``NOT_EXERCISED``: the name of the status in CSS and in the page's filter."""
    return status.lower().replace("_", "-")


def duration(milliseconds: float) -> str:
    """Milliseconds in the unit that a person would choose.

    >>> duration(3.42), duration(340.2), duration(2070), duration(125000)
    ('3.4 ms', '340 ms', '2.07 s', '2 min 5 s')
    """
    size = abs(milliseconds)
    if size < 9.95:
        return f"{milliseconds:.1f}".removesuffix(".0") + " ms"
    if size < 999.5:
        return f"{milliseconds:.0f} ms"
    if size < 59_950:
        return f"{milliseconds / 1000:.2f}".rstrip("0").rstrip(".") + " s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min" + (f" {seconds} s" if seconds else "")


def moment(iso: str) -> str:
    """An ISO 8601 time for a person; text that is none stays as it is.

    >>> moment("2026-10-08T09:14:03.120+00:00"), moment("soon")
    ('8 October 2026, 09:14:03 UTC', 'soon')
    """
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{at.day} {at:%B %Y, %H:%M:%S} {at.tzname() or ''}".rstrip()


def finding_words(finding: Finding) -> str:
    """``late-produce-accepted: …``; of what no KIP promises, with its level: ``SHOULD wrong-message: …``."""
    level = "" if finding.level == Level.MUST else f"{finding.level} "
    return f"{level}{finding.anomaly}: {finding.detail}"


def count(number: int, one: str, many: str) -> str:
    """``1 step`` or ``3 steps``."""
    return f"{number:,} {one if number == 1 else many}"


def short(text: str, width: int) -> str:
    """At most ``width`` characters of one line, with an ellipsis where something is left out."""
    line = " ".join(printable(text).split())
    return line if len(line) <= width else line[: max(width - 1, 0)].rstrip() + "…"


def printable(text: str) -> str:
    """The text with control and direction characters made visible: none may rule a terminal, a page or an XML file."""
    if text.isprintable():  # of most text, and much faster to ask
        return text
    hidden = (char not in "\n\t" and unicodedata.category(char) in _HIDDEN for char in text)
    return "".join("\N{REPLACEMENT CHARACTER}" if hide else char for char, hide in zip(text, hidden, strict=True))


def first_line(reason: str) -> str:
    """A reason on one line: as it is, or of a crash's trace (the only reason of many lines) what was raised.

    >>> first_line("no step"), first_line("x.py:3: in check\\nE   KeyError: 'a'\\n")
    ('no step', "it crashed: KeyError: 'a'")
    """
    lines = [line for line in reason.strip().splitlines() if line.strip()] or [""]
    return lines[0] if len(lines) == 1 else f"it crashed: {lines[-1].removeprefix('E ').strip()}"


def value(json_value: Json, width: int = 160) -> str:
    """A field's value on one line: strings bare, the rest as compact JSON, cut at ``width`` characters."""
    text = json_value if isinstance(json_value, str) else json.dumps(json_value, ensure_ascii=False)
    return short(text, width)


def pairs(fields: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
    """Field names and values as text, for a list of small facts; null fields are left out."""
    return tuple((name, value(field)) for name, field in fields.items() if field is not None)


def letter(index: int) -> str:
    """The letter of a fault, from 0: A, B, … Z, A2, B2, …"""
    turn, place = divmod(index, 26)
    return chr(ord("A") + place) + (str(turn + 1) if turn else "")
