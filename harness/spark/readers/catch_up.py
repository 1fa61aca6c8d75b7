"""Waiting until a streaming reader has come to wanted offsets, with the time that each took."""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from harness.base import wait

Key = TypeVar("Key")


def reached_after(
    ends: Callable[[], Mapping[Key, int]], wanted: Mapping[Key, int], *, timeout_seconds: float, interval_seconds: float
) -> Mapping[Key, float]:
    """Wait at most ``timeout_seconds`` seconds until each end is at its wanted offset.

    :return: Milliseconds after which each was; those that were not in time are left out.
    """
    started, reached = time.monotonic(), dict[Key, float]()

    def all_reached() -> bool:
        now = ends()
        for key, offset in wanted.items():
            if now.get(key, 0) >= offset:
                reached.setdefault(key, round((time.monotonic() - started) * 1000, 3))
        return reached.keys() == wanted.keys()

    wait.elapsed_ms_until(all_reached, timeout_seconds=timeout_seconds, interval_seconds=interval_seconds)
    return reached
