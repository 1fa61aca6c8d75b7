"""Statuses as every page shows them: with a mark, a word and a number, never by colour alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.report.shared.words import ORDER, label, meaning, slug


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusMark:
    """A status in the page's words; ``slug`` is its name in CSS."""

    status: str
    slug: str
    label: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusTally:
    """How many have a status; ``share`` is in percent of all."""

    mark: StatusMark
    number: int
    share: float


def mark(status: str) -> StatusMark:
    """The status in the page's words."""
    return StatusMark(status=status, slug=slug(status), label=label(status), meaning=meaning(status))


def counted(statuses: Iterable[str], order: Sequence[str] = ORDER) -> Mapping[str, int]:
    """How often each status occurs, the worst first.

    >>> counted(["HOLDS", "VIOLATED", "HOLDS"])
    {'VIOLATED': 1, 'HOLDS': 2}
    """
    found = Counter(statuses)
    return {status: found[status] for status in order if found[status]}


def tallies(found: Mapping[str, int], *, digits: int) -> tuple[StatusTally, ...]:
    """Each count with its mark and its share of all, rounded to ``digits``."""
    total = sum(found.values()) or 1
    return tuple(
        StatusTally(mark=mark(status), number=number, share=round(100 * number / total, digits))
        for status, number in found.items()
    )
