"""Several queries in parallel: most of a small one's time is spent in the driver, which uses one core for it."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
THREADS = 2


def in_parallel(calls: Sequence[Callable[[], T]]) -> list[T]:
    """What the calls give, in their order; of those that raise the first one's error is raised, when all have ended.

    >>> in_parallel([lambda: 1, lambda: 2])
    [1, 2]
    """
    with ThreadPoolExecutor(THREADS, thread_name_prefix="spark-query") as pool:
        given = [pool.submit(call) for call in calls]
    return [each.result() for each in given]
