"""What an exploration tells at its end, in a few lines."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from harness.explore.cell_results import CellOutcome, CellResult
from harness.explore.findings import Findings

SHOWN = 12
"""Differences that are told whole."""


def summary(found: Findings, total: int, seconds: float, asked_again: Mapping[str, int], late: int) -> Iterator[str]:
    """Counts first, then the differences, those after the shortest paths first."""
    counts = found.counts
    yield (
        f"{found.compared} of {total} cells in {seconds:.0f} s ({found.compared / max(seconds, 0.001):.0f} a second):"
        f" {counts[CellOutcome.AGREES]} agree, {counts[CellOutcome.DIFFERS]} differ, of which"
        f" {counts[CellOutcome.DIFFERS] - len(found.unexplained())} are explained,"
        f" {counts[CellOutcome.NOT_REACHED]} not reached"
    )
    for error, times in sorted(asked_again.items()):
        yield f"asked again {times} times after {error}"
    if late:
        yield f"{late} transactions had not ended when they were looked at"
    for reason, cells in sorted(found.explained.items()):
        yield f"explained, {cells} cells: {reason}"
    yield from _differences(found.unexplained())


def _differences(differing: Sequence[CellResult]) -> Iterator[str]:
    """One of each kind, with how many are alike."""
    kinds = Counter(map(_kind, differing))
    told: set[tuple[str, ...]] = set()
    firsts = (each for each in differing if _kind(each) not in told and not told.add(_kind(each)))  # type: ignore[func-returns-value]
    for each in islice(firsts, SHOWN):
        yield from _told(each, kinds[_kind(each)])
    if len(kinds) > SHOWN:
        yield f"… and {len(kinds) - SHOWN} more kinds of difference"


def _told(result: CellResult, alike: int) -> Iterator[str]:
    others = f" ({alike} cells alike)" if alike > 1 else ""
    yield f"cell {result.cell}: {result.request}, in «{result.state}»{others}"
    for number, each in enumerate(result.exchanges, start=1):
        tries = f", at try {each.tries}" if each.tries > 1 else ""
        yield f"  {number}. {each.asked} → {each.answered}{tries}"
    for difference in result.differences:
        yield f"  {difference.part}: the model says {difference.expected}; seen is {difference.seen}"


def _kind(result: CellResult) -> tuple[str, ...]:
    """Equal for differences that most likely have one cause: API, version, and what differs how."""
    api = " ".join(result.request.split(",")[0].split(" ")[:2])
    answers = [f"{each.part} {each.expected} {each.seen}" for each in result.differences if each.part == "answer"]
    return (api, *(answers or sorted({each.part for each in result.differences})))
