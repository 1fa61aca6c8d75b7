"""Runs an action after a delay, at latest on exit: a fault that lifts itself while the fault around it goes on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def deferred(seconds: float, action: Callable[[], None]) -> Iterator[Event]:
    """Run ``action`` once, in a thread of its own: ``seconds`` after the block was entered, or when it is left.

    An exception of the action is raised when the block is left.

    :return: An event that is set once the block is left, so that a long action can end early.
    """
    left = Event()
    failures: list[Exception] = []

    def run() -> None:
        left.wait(seconds)
        try:
            action()
        except Exception as failure:  # noqa: BLE001  raised again when the block is left
            failures.append(failure)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield left
    finally:
        left.set()
        thread.join()
        if failures:
            raise failures[0]
