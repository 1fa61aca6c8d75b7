"""The only place that waits: for a condition, within a bound, and it says how long it took.

A fixed sleep hopes; a bounded wait knows. Everything in Fencepost that has to wait comes through here.
"""

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


class NotInTime(Exception):
    """The condition did not come about within its bound; the text says which condition and which bound."""


def until(condition: Callable[[], Value | None], *, what: str, within: float, every: float = 0.005) -> Value:
    """The first truthy answer of ``condition``, asked every ``every`` seconds.

    :raises NotInTime: When ``within`` seconds passed without a truthy answer.
    """
    deadline = time.monotonic() + within
    while True:
        if answer := condition():
            return answer
        if time.monotonic() >= deadline:
            raise NotInTime(f"{what} did not come about within {within:g} s")
        pause(every)


def holds_after(condition: Callable[[], bool], *, within: float, every: float = 0.005) -> float | None:
    """Milliseconds until ``condition`` was true, or None when it was not within ``within`` seconds."""
    started = time.monotonic()
    try:
        until(condition, what="the condition", within=within, every=every)
    except NotInTime:
        return None
    return (time.monotonic() - started) * 1000


def pause(seconds: float) -> None:
    """Let time pass between two questions of a bounded wait."""
    time.sleep(seconds)
