"""Distributions of a chaos run: how long faults kept clients from committing, and how far last stable offsets lagged.

Made by :mod:`harness.spark.history.spread_frames`, kept in ``timeline.json``. The fields are named as in the file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A distribution: how many values, three percentiles and the largest; milliseconds, or offsets."""

    count: int
    p50: float
    p95: float
    p99: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """What faults of one name that struck were to the roles of one client; a value is of one fault and one role.

    :param faults: How many faults of that name.
    :param unavailable: The longest time without a commit that was done, from the fault's beginning on; it may go on
        after the fault.
    :param recovered: From the fault's end to the role's next commit that was done; None where no role has one.
    :param not_again: How often a role went on after the fault's end, and no commit of its was done any more.
    """

    fault: str
    client: str
    faults: int
    unavailable: Spread
    recovered: Spread | None = None
    not_again: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StableOffsetLag:
    """By how many offsets the last stable offset was behind the high watermark, of all samples in phases of a name."""

    phase: str
    lag: Spread


def spread_of(values: Sequence[float]) -> Spread | None:
    """Of values at hand, each percentile one of them; None where there is none.

    >>> spread_of([4.0, 1.0, 2.0])
    Spread(count=3, p50=2.0, p95=4.0, p99=4.0, most=4.0)
    """
    ranked = sorted(values)
    if not ranked:
        return None
    p50, p95, p99 = (ranked[ceil(len(ranked) * share) - 1] for share in (0.5, 0.95, 0.99))
    return Spread(count=len(ranked), p50=p50, p95=p95, p99=p99, most=ranked[-1])
