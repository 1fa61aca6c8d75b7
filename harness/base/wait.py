"""Waiting for a condition, always with a timeout. Nothing else in Fencepost sleeps."""

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


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
