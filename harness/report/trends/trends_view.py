"""What rounds come to, by release and scenario: the rows of the terminal's table and of the page."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.report.shared.words import count, duration


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendLine:
    """A release and a scenario; every cell is text.

    :param recovered: Median, longest; likewise ``settled`` and ``unavailable``.
    """

    release: str
    scenario: str
    rounds: str
    red: str
    unshown: str
    committed: str
    pace: str
    recovered: tuple[str, str]
    settled: tuple[str, str]
    unavailable: tuple[str, str]
    lag: str
    anomalies: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trends:
    """All of them, releases in their order."""

    lines: tuple[TrendLine, ...]
    headline: str
    good: bool


def trends_view(rows: Sequence[Mapping[str, Any]]) -> Trends:
    """Of the rows that :func:`harness.spark.trends.trend_table.come_to` gives."""
    ordered = sorted(rows, key=lambda row: (release_order(row["release"]), row["scenario"]))
    total, red, unshown = (sum(row[name] for row in rows) for name in ("rounds", "red", "unshown"))
    releases = len({row["release"] for row in rows})
    asked = f"{count(total, 'round', 'rounds')} on {count(releases, 'release', 'releases')}"
    found = [f"{red:,} broke promises" if red else "", f"{unshown:,} showed nothing" if unshown else ""]
    said = ", ".join(each for each in found if each) or "every one held or was out of reach"
    lines = tuple(map(_line, ordered))
    return Trends(lines=lines, headline=f"{asked}; {said}.", good=not red and not unshown)


def release_order(release: str) -> tuple[tuple[int, ...], str]:
    """By numbers, others last.

    >>> sorted(["3.10.0", "3.9.2", "mine"], key=release_order)
    ['3.9.2', '3.10.0', 'mine']
    """
    numbers = tuple(int(number) for number in re.findall(r"\d+", release)) if release[:1].isdigit() else (1 << 30,)
    return numbers, release


def _line(row: Mapping[str, Any]) -> TrendLine:
    pace = row["committed_a_second"]
    return TrendLine(
        release=row["release"],
        scenario=row["scenario"],
        rounds=f"{row['rounds']:,}",
        red=_number(row["red"]),
        unshown=_number(row["unshown"]),
        committed="–" if row["committed"] is None else f"{row['committed']:,}",
        pace="–" if pace is None else f"{pace:,.0f}",
        recovered=_times(row, "recovered_ms"),
        settled=_times(row, "settled_ms"),
        unavailable=_times(row, "unavailable_ms"),
        lag="–" if row["lag"] is None else f"{row['lag']:,}",
        anomalies=tuple(row["anomalies"]),
    )


def _times(row: Mapping[str, Any], name: str) -> tuple[str, str]:
    middle, most = ("–" if row[each] is None else duration(row[each]) for each in (name, f"{name}_most"))
    return middle, most


def _number(number: int) -> str:
    return f"{number:,}" if number else "–"
