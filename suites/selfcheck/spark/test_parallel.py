"""Queries in parallel: their results in order, the first error when all have ended, and what several of them share."""

from itertools import count
from threading import Barrier
from time import sleep

import pytest

from harness.spark.session.parallel import THREADS, Once, both, in_parallel


def test_the_results_are_in_the_order_of_the_calls() -> None:
    together = Barrier(THREADS)
    assert in_parallel([lambda: together.wait(60) * 0 + 1, lambda: together.wait(60) * 0 + 2, lambda: 3]) == [1, 2, 3]


def test_what_one_raises_is_raised_when_all_have_ended() -> None:
    ended = list[int]()
    with pytest.raises(ZeroDivisionError):
        in_parallel([lambda: 1 // 0, lambda: ended.append(1)])
    assert ended == [1]


def test_two_calls_of_different_kinds_run_at_the_same_time() -> None:
    together = Barrier(2)
    assert both(lambda: together.wait(60) * 0 + 1, lambda: f"{together.wait(60) * 0 + 2}") == (1, "2")


def test_what_one_of_two_raises_is_raised_when_both_have_ended() -> None:
    ended = list[int]()
    with pytest.raises(ZeroDivisionError):
        both(lambda: 1 // 0, lambda: ended.append(1))
    with pytest.raises(ZeroDivisionError):
        both(lambda: ended.append(2), lambda: 1 // 0)
    assert ended == [1, 2]


def test_what_several_ask_for_at_once_is_computed_once() -> None:
    together, numbers = Barrier(THREADS), count()

    def slow() -> int:
        sleep(0.05)
        return next(numbers)

    shared = Once(slow)

    def asked() -> int:
        together.wait(60)
        return shared.get()

    assert in_parallel([asked] * THREADS) == [0] * THREADS
    assert next(numbers) == 1


def test_what_could_not_be_computed_is_told_to_all_and_not_tried_again() -> None:
    answers = iter([0, 1])
    shared = Once(lambda: 1 // next(answers))
    for _ in range(THREADS):
        with pytest.raises(ZeroDivisionError):
            shared.get()
    assert next(answers) == 1
