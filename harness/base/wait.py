"""Waiting for a condition, always with a timeout. Nothing else in Fencepost sleeps."""

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


class NotInTime(Exception):
    """The condition was not met before the timeout; the text names both."""


def until(condition: Callable[[], Value | None], *, what: str, within: float, every: float = 0.005) -> Value:
    """The first truthy result of ``condition``.

    :param what: The condition in words, for the error.
    :param within: The timeout in seconds. The condition is evaluated at least once.
    :param every: Seconds between two evaluations.
    :raises NotInTime: At the timeout.
    """
    deadline = time.monotonic() + within
    while True:
        if result := condition():
            return result
        if time.monotonic() >= deadline:
            raise NotInTime(f"{what} did not come about within {within:g} s")
        pause(every)


def holds_after(condition: Callable[[], bool], *, within: float, every: float = 0.005) -> float | None:
    """How many milliseconds it took until ``condition`` was true; None when it was not within ``within`` seconds."""
    started = time.monotonic()
    try:
        until(condition, what="the condition", within=within, every=every)
    except NotInTime:
        return None
    return (time.monotonic() - started) * 1000


def pause(seconds: float) -> None:
    """Sleep between two evaluations of a condition."""
    time.sleep(seconds)
