"""Several queries in parallel: most of a small one's time is spent in the driver, which uses one core for it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
THREADS = 2
USUAL_SECONDS, SHORT_SECONDS = sys.getswitchinterval(), 0.0002
"""For which a thread that computes keeps waiting one that has heard from the JVM. A query is some hundred round trips:
at Python's usual 5 ms it takes ten times as long beside a search for orders.
"""


def in_parallel(calls: Sequence[Callable[[], T]]) -> list[T]:
    """What the calls give, in their order; of those that raise the first one's error is raised, when all have ended.

    >>> in_parallel([lambda: 1, lambda: 2])
    [1, 2]
    """
    with _giving_way(), ThreadPoolExecutor(THREADS, thread_name_prefix="spark-query") as pool:
        given = [pool.submit(call) for call in calls]
    return [each.result() for each in given]


@contextmanager
def _giving_way() -> Iterator[None]:
    sys.setswitchinterval(SHORT_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(USUAL_SECONDS)
