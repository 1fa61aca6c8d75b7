"""``fencepost`` and ``python -m harness``: an interrupt ends the run in one line, also during import."""

import sys

from harness.base.interrupts import ignore_interrupts, is_interrupt, raise_interrupts


def main() -> int:
    """Run the command line and give its exit code."""
    raise_interrupts()
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


if __name__ == "__main__":
    sys.exit(main())
