"""``fencepost`` and ``python -m harness``: an interrupt is answered also while the command is still being read in."""

import signal
import sys


def main() -> int:
    """Run the command line and give its exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from harness.cli import main as command

        return command()
    except KeyboardInterrupt:
        sys.stderr.write("fencepost: interrupted\n")
        return 130  # Exit.INTERRUPTED, which may not have been read in yet


if __name__ == "__main__":
    sys.exit(main())
