"""Queries in parallel: their results in order, and the first error when all have ended."""

from threading import Barrier

import pytest

from harness.spark.session.parallel import THREADS, in_parallel


def test_the_results_are_in_the_order_of_the_calls() -> None:
    together = Barrier(THREADS)
    assert in_parallel([lambda: together.wait(5) * 0 + 1, lambda: together.wait(5) * 0 + 2, lambda: 3]) == [1, 2, 3]


def test_what_one_raises_is_raised_when_all_have_ended() -> None:
    ended = list[int]()
    with pytest.raises(ZeroDivisionError):
        in_parallel([lambda: 1 // 0, lambda: ended.append(1)])
    assert ended == [1]
