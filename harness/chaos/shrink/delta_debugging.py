"""Delta debugging: the smallest part of something, and the smallest number, that still show what the whole shows.

Each question is a round on a cluster, so questions are few, one after the other, and none is wasted on drawing; that
is why Hypothesis's shrinker, which asks hundreds, is not used.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

Part = TypeVar("Part")


def smallest_part(parts: Sequence[Part], shows: Callable[[Sequence[Part]], bool]) -> Sequence[Part]:
    """Some of ``parts``, in their order, that show it, and of which no single one can be left out.

    This is *ddmin* (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).

    :param shows: Whether these still show it. All together are known to; none at all is never asked.
    """
    kept, pieces = tuple(parts), 2
    while len(kept) > 1:
        found = next((smaller for smaller in _smaller(kept, pieces) if shows(smaller[0])), None)
        if found is not None:
            kept, pieces = found
        elif pieces == len(kept):
            break
        else:
            pieces = min(2 * pieces, len(kept))
    return kept


def smallest_number(low: int, high: int, shows: Callable[[int], bool]) -> int:
    """A number that shows it; the smallest from ``low`` on where each that is larger than one that does, does too.

    :param shows: Whether a number shows it. ``high`` is known to, and not asked.
    """
    if low >= high or shows(low):
        return min(low, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def _smaller(kept: tuple[Part, ...], pieces: int) -> Iterator[tuple[tuple[Part, ...], int]]:
    """Each piece alone, then all without one piece; with each the number of pieces to go on with."""
    cuts = [len(kept) * nth // pieces for nth in range(pieces + 1)]
    bounds = list(pairwise(cuts))
    yield from ((kept[start:end], 2) for start, end in bounds)
    if pieces > 2:  # with two, all without one is the other
        yield from (((*kept[:start], *kept[end:]), pieces - 1) for start, end in bounds)
