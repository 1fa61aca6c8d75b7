"""A test whether one of two samples has the larger values, which assumes nothing of how they are distributed.

The statistic is that of Mann and Whitney: pairs in which the second sample's value is the larger, ties counted half.
Values of different groups (scenarios) are never compared: the pairs are counted within each group and added. The
p-value is two-sided and comes from permutations of the labels within each group, drawn from a fixed seed, with the
arrangement that was seen counted as one of them, so that it is never too small.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, prod
from random import Random

PERMUTATIONS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTest:
    """A result.

    :param larger: Share of pairs in which the second value is the larger, ties counted half.
    :param p: How often labels by chance give a share as far from one half, or farther.
    :param least: The smallest p that so few values could give.
    """

    larger: float
    p: float
    least: float


Group = tuple[Sequence[float], Sequence[float]]


def rank_test(groups: Mapping[str, Group]) -> RankTest | None:
    """The test over all groups in which both samples have values; None where there is none."""
    both = [group for group in groups.values() if group[0] and group[1]]
    if not both:
        return None
    pairs = sum(len(first) * len(second) for first, second in both)
    ranked = [(_ranks([*first, *second]), len(second)) for first, second in both]
    expected = sum(_wins(sum(ranks) * size / len(ranks), size) for ranks, size in ranked)
    seen = sum(_wins(sum(ranks[-size:]), size) for ranks, size in ranked)
    draw, as_far = Random(0), 1
    for _ in range(PERMUTATIONS):
        drawn = sum(_wins(sum(draw.sample(ranks, size)), size) for ranks, size in ranked)
        as_far += abs(drawn - expected) >= abs(seen - expected) - 1e-9
    arrangements = prod(comb(len(ranks), size) for ranks, size in ranked)
    least = max(min(1.0, 2 / arrangements), 1 / (PERMUTATIONS + 1))
    return RankTest(larger=seen / pairs, p=as_far / (PERMUTATIONS + 1), least=least)


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each, from 1; equal ones share the mean of theirs."""
    return [
        (sum(other < value for other in values) + sum(other <= value for other in values) + 1) / 2 for value in values
    ]


def _wins(rank_sum: float, size: int) -> float:
    """Pairs in which a value of the sample with this sum of ranks is the larger."""
    return rank_sum - size * (size + 1) / 2
