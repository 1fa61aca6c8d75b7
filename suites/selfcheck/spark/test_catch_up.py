"""How long a reader is waited for: to its wanted offsets, or for so long as it gets any further."""

from collections.abc import Iterator, Mapping
from itertools import chain, repeat

import pytest

from harness.spark.readers.catch_up import reached_after

FAR, NEAR = 3, 1


def reached(ends: Iterator[Mapping[str, int]], progress: Iterator[int]) -> Mapping[str, float]:
    """With a timeout that passes between two looks."""
    return reached_after(
        lambda: next(ends),
        {"far": FAR, "near": NEAR},
        timeout_seconds=0.0,
        interval_seconds=0.0,
        progress=lambda: next(progress),
    )


def growing() -> Iterator[Mapping[str, int]]:
    """A partition that is read to its end at once, and one that comes to it with the fourth look."""
    return ({"far": end, "near": NEAR} for end in (0, 1, 2, FAR))


def test_a_reader_that_gets_further_is_waited_for() -> None:
    assert reached(growing(), iter(range(9))).keys() == {"far", "near"}


def test_one_that_gets_no_further_is_not() -> None:
    assert reached(growing(), chain((1, 2), repeat(2))).keys() == {"near"}


def test_one_that_is_there_needs_no_progress() -> None:
    assert reached(iter([{"far": FAR, "near": NEAR}]), repeat(0)).keys() == {"far", "near"}


@pytest.mark.parametrize("ends", [{}, {"far": FAR - 1}])
def test_what_is_not_reached_is_left_out(ends: Mapping[str, int]) -> None:
    assert reached(repeat(ends), repeat(0)) == {}
