"""Offsets over time as lines of an SVG: what the pictures of both reports compute in the same way."""

import math
from collections.abc import Sequence

Point = tuple[float, float]
"""Units to the right, and units down."""


def round_step(length: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, 50, … milliseconds that is not below ``length``.

    >>> round_step(0.2), round_step(13), round_step(420)
    (1.0, 20.0, 500.0)
    """
    if length <= 1:
        return 1.0
    decade = 10.0 ** math.floor(math.log10(length))
    return next(step * decade for step in (1, 2, 5, 10) if step * decade >= length)


def staircase(points: Sequence[Point]) -> list[Point]:
    """Corners of the line that keeps each value until the next point; points without a change are left out.

    >>> staircase([(0, 5), (1, 5), (2, 3), (4, 3)])
    [(0, 5), (2, 5), (2, 3), (4, 3)]
    """
    corners = [points[0]]
    for x, y in points[1:]:
        if y != corners[-1][1]:
            corners += [(x, corners[-1][1]), (x, y)]
    return [*corners, (points[-1][0], corners[-1][1])]


def path(corners: Sequence[Point]) -> str:
    """The ``points`` attribute of an SVG line."""
    return " ".join(f"{x:g},{y:g}" for x, y in corners)


def kept_apart(upper: float, lower: float, distance: float) -> Point:
    """The heights of two labels, moved apart where they would lie over each other.

    >>> kept_apart(10.0, 12.0, 6.0), kept_apart(10.0, 30.0, 6.0)
    ((8.0, 14.0), (10.0, 30.0))
    """
    missing = max(distance - (lower - upper), 0.0)
    return upper - missing / 2, lower + missing / 2
