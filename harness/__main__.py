"""``fencepost`` and ``python -m harness``: an interrupt ends the run in one line, also during import."""

import signal
import sys
import threading
from typing import TYPE_CHECKING

from harness.base.interrupts import is_interrupt

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

RESEND_SECONDS = 0.05
"""Seconds after which an interrupt that Python dropped is sent again."""


def main() -> int:
    """Run the command line and give its exit code."""
    handle_interrupts()
    try:
        from harness.app.cli import main as command

        code = command()
    except BaseException as error:
        ignore_interrupts()
        if not is_interrupt(error):
            raise
        sys.stderr.write("fencepost: interrupted\n")
        return 130  # ExitCode.INTERRUPTED, which may not be imported yet
    ignore_interrupts()
    return code


def ignore_interrupts() -> None:
    """The exit code is decided: one that comes now, perhaps a second time, would end Python by the signal instead.

    So would one that came while a string was executed, as dataclasses do: CPython remembers it as not handled
    (``_PyRuntime.signals.unhandled_keyboard_interrupt``) until another string is executed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    exec("")  # noqa: S102


def handle_interrupts() -> None:
    """SIGTERM is an interrupt as well, and one that Python drops, inside a finaliser or a callback, is sent again."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.unraisablehook = _resend_interrupt


def _resend_interrupt(unraisable: "UnraisableHookArgs") -> None:
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    # Raised inside this hook it would be dropped again.
    later = threading.Timer(RESEND_SECONDS, signal.pthread_kill, [threading.main_thread().ident, signal.SIGTERM])
    later.daemon = True
    later.start()


if __name__ == "__main__":
    sys.exit(main())
