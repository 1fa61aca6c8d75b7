"""Searches for garbage are rare; what refers to itself is still found."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from harness.machine.garbage import THRESHOLDS, collect_garbage_rarely


class Circle:
    """Refers to itself, so that no count of references frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_circles_are_freed_once_there_are_enough_new_objects() -> None:
    gc.collect()
    collect_garbage_rarely()
    circle = weakref.ref(Circle())
    kept: list[list[object]] = [[] for _ in range(THRESHOLDS[0] // 2)]
    assert circle() is not None
    kept += [[] for _ in range(THRESHOLDS[0])]
    assert circle() is None
