"""Waiting until a streaming reader has come to wanted offsets, with the time that each took."""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from harness.base import wait

Key = TypeVar("Key")


def reached_after(
    ends: Callable[[], Mapping[Key, int]],
    wanted: Mapping[Key, int],
    *,
    timeout_seconds: float,
    interval_seconds: float,
    progress: Callable[[], object] = lambda: None,
) -> Mapping[Key, float]:
    """Wait at most ``timeout_seconds`` seconds until each end is at its wanted offset.

    :param progress: The timeout begins anew whenever this has changed.
    :return: Milliseconds after which each was; those that were not in time are left out.
    """
    started = moved = time.monotonic()
    reached, before = dict[Key, float](), progress()
    while True:
        now, at = ends(), time.monotonic()
        for key, offset in wanted.items():
            if now.get(key, 0) >= offset:
                reached.setdefault(key, round((at - started) * 1000, 3))
        if reached.keys() == wanted.keys():
            return reached
        if (last := progress()) != before:
            before, moved = last, at
        elif at - moved >= timeout_seconds:
            return reached
        wait.pause(interval_seconds)
