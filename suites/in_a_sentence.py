"""Commands of the suites that are no part of ``fencepost``: errors for the user and interrupts without a traceback."""

import sys
from collections.abc import Callable

from harness.base.interrupts import is_interrupt, raise_interrupts
from harness.base.user_error import ExitCode, UserError


def in_a_sentence(command: Callable[[], int]) -> int:
    """The command's exit code; that of the error where it raised one that is for the user, who is told it.

    SIGTERM is an interrupt as Ctrl-C is one, so that what the command has started is ended in either case.
    """
    raise_interrupts()
    try:
        return command()
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit
    except BaseException as error:
        if not is_interrupt(error):
            raise
        sys.stderr.write("interrupted\n")
        return ExitCode.INTERRUPTED
