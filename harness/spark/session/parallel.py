"""Several queries in parallel: most of a small one's time is spent in the driver, which uses one core for it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")
THREADS = 2


def in_parallel(calls: Sequence[Callable[[], T]]) -> list[T]:
    """What the calls give, in their order; of those that raise the first one's error is raised, when all have ended.

    >>> in_parallel([lambda: 1, lambda: 2])
    [1, 2]
    """
    with ThreadPoolExecutor(THREADS, thread_name_prefix="spark-query") as pool:
        given = [pool.submit(call) for call in calls]
    return [each.result() for each in given]


def both(one: Callable[[], T], other: Callable[[], U]) -> tuple[T, U]:
    """What two calls give that run at the same time; where both raise, it is the error of ``one``.

    >>> both(lambda: 1, lambda: "two")
    (1, 'two')
    """
    with ThreadPoolExecutor(1, thread_name_prefix="spark-query") as pool:
        beside = pool.submit(other)
        given = one()
    return given, beside.result()


@dataclass(slots=True)
class Once(Generic[T]):
    """A value that is computed by whoever asks first; others who ask meanwhile wait for it.

    What ``compute`` raises is told to all of them: a query that failed is not run again for each.

    >>> numbers = iter([1, 2])
    >>> one = Once(lambda: next(numbers))
    >>> one.get(), one.get()
    (1, 1)
    """

    compute: Callable[[], T]
    _told: Future[T] = field(default_factory=Future)
    _lock: Lock = field(default_factory=Lock)

    def get(self) -> T:
        """The value."""
        with self._lock:
            if not self._told.done():
                try:
                    self._told.set_result(self.compute())
                except Exception as failure:  # noqa: BLE001  raised below, to whoever asks
                    self._told.set_exception(failure)
        return self._told.result()
