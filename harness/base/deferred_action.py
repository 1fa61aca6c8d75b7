"""What is due after a while, and in any case before a block is left: how a broker comes back inside a strike."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def deferred(seconds: float, action: Callable[[], None]) -> Iterator[Event]:
    """Do ``action`` once, in a thread of its own: ``seconds`` after the block began, or when it is left.

    What went wrong in it is raised when the block is left.

    :return: An event that is set once the block is left, so that a long action can see that it should come to its end.
    """
    left = Event()
    failures: list[Exception] = []

    def act() -> None:
        left.wait(seconds)
        try:
            action()
        except Exception as failure:  # noqa: BLE001  raised by whoever leaves the block
            failures.append(failure)

    thread = Thread(target=act, daemon=True)
    thread.start()
    try:
        yield left
    finally:
        left.set()
        thread.join()
        if failures:
            raise failures[0]
