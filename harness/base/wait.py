"""Waiting for a condition, always with a timeout. Nothing else in Fencepost sleeps.

A broken broker must not cost a run its full bounds each time. Each *kind* of wait (a request that is refused with one
and the same error, an answer to an API, a last stable offset) has its full bound until it was in vain twice in the run
without having been met in between. From then on it has a second, half of that after each further time in vain, a tenth
of a second at least; and the full bound again once it is met. What a sound broker does within its bound is thus never
cut short by anything but two failures of the same kind just before, and evidence says how long was waited.

A wait whose length is the promise itself (an overdue transaction is aborted within so many seconds) takes no part.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

Value = TypeVar("Value")

EXHAUSTED_BEFORE = 2
"""Full bounds that may pass in vain before a kind of wait is shortened."""
SHORT_SECONDS = 1.0
"""What a kind of wait has after that, at first."""
LEAST_SECONDS = 0.1
"""What it has in any case."""


class TimedOut(Exception):
    """The condition was not met before the timeout; the text names both."""


def until(
    condition: Callable[[], Value | None], *, what: str, timeout_seconds: float, interval_seconds: float = 0.005
) -> Value:
    """The first truthy result of ``condition``.

    :param what: The condition in words, for the error.
    :param timeout_seconds: The timeout in seconds. The condition is evaluated at least once.
    :param every: Seconds between two evaluations.
    :raises TimedOut: At the timeout.
    """
    deadline = time.monotonic() + timeout_seconds
    while True:
        if result := condition():
            return result
        if time.monotonic() >= deadline:
            raise TimedOut(f"{what} did not come about within {timeout_seconds:g} s")
        pause(interval_seconds)


def elapsed_ms_until(
    condition: Callable[[], bool], *, timeout_seconds: float, interval_seconds: float = 0.005
) -> float | None:
    """How many milliseconds it took until ``condition`` was true; None when it was not in time."""
    started = time.monotonic()
    try:
        until(condition, what="the condition", timeout_seconds=timeout_seconds, interval_seconds=interval_seconds)
    except TimedOut:
        return None
    return (time.monotonic() - started) * 1000


def pause(seconds: float) -> None:
    """Sleep between two evaluations of a condition."""
    time.sleep(seconds)


@dataclass(slots=True, kw_only=True)
class Patience:
    """How long a run still waits for what has failed to come about; one for a run, shared by all its labs.

    :param now: Seconds on a monotonic clock.
    """

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = lambda seconds: pause(seconds)
    _in_vain: dict[str, int] = field(default_factory=dict)

    def fresh(self) -> "Patience":
        """One that knows of nothing in vain, on the same clock: for a wait that must have all of its bound."""
        return Patience(now=self.now, pause=self.pause)

    def bound(self, full_seconds: float, *kinds: str) -> float:
        """Seconds that a wait of these kinds may take now; the one that was in vain most often decides."""
        times = max((self._in_vain.get(kind, 0) for kind in kinds), default=0) - EXHAUSTED_BEFORE
        return full_seconds if times < 0 else min(full_seconds, max(LEAST_SECONDS, SHORT_SECONDS / 2**times))

    def met(self, *kinds: str) -> None:
        """What was waited for has come."""
        for kind in kinds:
            self._in_vain.pop(kind, None)

    def exhausted(self, *kinds: str) -> None:
        """The bound has passed in vain."""
        for kind in kinds:
            self._in_vain[kind] = self._in_vain.get(kind, 0) + 1

    @contextmanager
    def within(self, full_seconds: float, kind: str, *, in_vain: type[Exception]) -> Iterator[float]:
        """The seconds that what the block asks for may take now; it raises ``in_vain`` where that does not come."""
        try:
            yield self.bound(full_seconds, kind)
        except in_vain:
            self.exhausted(kind)
            raise
        self.met(kind)

    def until(
        self,
        condition: Callable[[], bool],
        *,
        kinds: Sequence[str],
        timeout_seconds: float,
        hopeless: Callable[[], bool] = lambda: False,
        interval_seconds: float = 0.005,
    ) -> bool:
        """Wait for a condition; whether it was met.

        One that is met at once was no wait, and one that has become hopeless has not exhausted its bound.

        :param hopeless: Whether it can no longer be met, because a state that only moves forward has passed it.
        """
        if condition():
            return True
        deadline = self.now() + self.bound(timeout_seconds, *kinds)
        while not hopeless():
            if self.now() >= deadline:
                self.exhausted(*kinds)
                return False
            self.pause(interval_seconds)
            if condition():
                self.met(*kinds)
                return True
        return condition()

    def get(
        self,
        condition: Callable[[], Value | None],
        *,
        what: str,
        kinds: Sequence[str],
        timeout_seconds: float,
        interval_seconds: float = 0.005,
    ) -> Value:
        """As the function :func:`until`, within this patience; :raises TimedOut: at the end of it."""
        found, began = list[Value](), self.now()

        def there() -> bool:
            if value := condition():
                found.append(value)
            return bool(found)

        if self.until(there, kinds=kinds, timeout_seconds=timeout_seconds, interval_seconds=interval_seconds):
            return found[0]
        raise TimedOut(f"{what} did not come about within {self.now() - began:.3g} s")
