"""Commands of the suites that are no part of ``fencepost``: what a person did wrong is told without a traceback."""

import sys
from collections.abc import Callable

from harness.base.user_error import UserError


def in_a_sentence(command: Callable[[], int]) -> int:
    """The command's exit code; that of the error where it raised one that is for the user, who is told it."""
    try:
        return command()
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit
