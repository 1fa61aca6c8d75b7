"""``fencepost`` and ``python -m harness``: an interrupt is answered whenever it comes, also while we are read in."""

import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

AGAIN = 0.05
"""Seconds after which an interrupt that was dropped comes again."""


def main() -> int:
    """Run the command line and give its exit code."""
    heed_interrupts()
    try:
        from harness.app.cli import main as command

        return command()
    except KeyboardInterrupt:
        sys.stderr.write("fencepost: interrupted\n")
        return 130  # Exit.INTERRUPTED, which may not have been read in yet


def heed_interrupts() -> None:
    """SIGTERM is an interrupt as well, and none is lost: Python drops one that meets a finaliser or a callback."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.unraisablehook = _not_dropped


def _not_dropped(unraisable: "UnraisableHookArgs") -> None:
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    # Raised in here it would be dropped again.
    later = threading.Timer(AGAIN, signal.pthread_kill, [threading.main_thread().ident, signal.SIGTERM])
    later.daemon = True
    later.start()


if __name__ == "__main__":
    sys.exit(main())
