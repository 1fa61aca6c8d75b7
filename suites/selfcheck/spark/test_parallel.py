"""Queries in parallel: their results in order, the first error, and threads that give way to each other meanwhile."""

import sys
from threading import Barrier

import pytest

from harness.spark.session.parallel import SHORT_SECONDS, THREADS, USUAL_SECONDS, in_parallel


def test_the_results_are_in_the_order_of_the_calls() -> None:
    together = Barrier(THREADS)
    assert in_parallel([lambda: together.wait(5) * 0 + 1, lambda: together.wait(5) * 0 + 2, lambda: 3]) == [1, 2, 3]


def test_what_one_raises_is_raised_when_all_have_ended() -> None:
    ended = list[int]()
    with pytest.raises(ZeroDivisionError):
        in_parallel([lambda: 1 // 0, lambda: ended.append(1)])
    assert ended == [1]
    assert sys.getswitchinterval() == pytest.approx(USUAL_SECONDS)


def test_a_thread_that_computes_gives_way_sooner_than_usual() -> None:
    assert in_parallel([sys.getswitchinterval]) == [pytest.approx(SHORT_SECONDS)]
    assert sys.getswitchinterval() == pytest.approx(USUAL_SECONDS)
    assert SHORT_SECONDS < USUAL_SECONDS
