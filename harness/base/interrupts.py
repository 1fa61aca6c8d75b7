"""Ctrl-C and SIGTERM end a run by a KeyboardInterrupt that neither gets lost nor leaves a lock held."""

import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

AGAIN_SECONDS = 0.02
"""Seconds after which an interrupt comes again that could not be raised, or that Python dropped."""
LOCKING = frozenset({"__enter__", "__exit__", "acquire", "release", "_acquire_restore", "_release_save"})
"""Functions that take a lock or give it back. An interrupt raised inside one can leave it held for ever."""


def raise_interrupts() -> None:
    """Have both raise KeyboardInterrupt in the main thread; a Ctrl-C that was ignored from the start stays ignored.

    Python looks for signals after every call, also between a lock's ``acquire`` and the return of the function around
    it (``threading.Condition.__enter__``, on which ``queue`` and ``concurrent.futures`` stand). A pool of connections
    or threads whose lock was lost like that cannot be closed any more: the interrupted run would never end.
    """
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    _come_again_if_dropped()


def ignore_interrupts() -> None:
    """The exit code is decided: one that comes now, perhaps a second time, would end Python by the signal instead.

    So would one that came while a string was executed, as dataclasses do: CPython remembers it as not handled
    (``_PyRuntime.signals.unhandled_keyboard_interrupt``) until another string is executed.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    exec("")  # noqa: S102


def is_interrupt(error: BaseException) -> bool:
    """Whether a KeyboardInterrupt is among the errors from which, or in whose handling, this one was raised.

    Python 3.11 raises a RuntimeError from whatever comes out of ``__set_name__`` (``type_new_set_names``), which is
    where an interrupt may strike while a module of many dataclasses is imported; and what is tidied up after an
    interrupt may fail in its turn.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, KeyboardInterrupt):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def _interrupt(_number: int, interrupted: FrameType | None) -> None:
    if interrupted is not None and interrupted.f_code.co_name in LOCKING:
        _come_again()
        return
    raise KeyboardInterrupt


def _come_again() -> None:
    """By the kernel's timer: to start a thread takes locks, which the interrupted code may be holding."""
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)


def _come_again_if_dropped() -> None:
    """Python drops what is raised inside a finaliser or a callback, and would drop what is raised in its hook."""
    otherwise = sys.unraisablehook

    def hook(unraisable: "UnraisableHookArgs") -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            _come_again()
        else:
            otherwise(unraisable)

    sys.unraisablehook = hook
