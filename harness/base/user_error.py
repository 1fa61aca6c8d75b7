"""Errors that a user can remedy, and the exit codes of the ``fencepost`` command.

The command line prints the sentence of a :class:`UserError` and exits with its code, without a traceback. The codes
are documented in README.md; a selfcheck compares the two.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the ``fencepost`` command; 3 to 9 are left to pytest, which has meanings of its own for some."""

    KEPT = 0  # every promise that the profile asks for holds, does not apply, is out of reach or a known failure
    BROKEN = 1  # one is VIOLATED, UNDECIDED or NOT_EXERCISED, a known failure is stale, or nothing was tried
    USAGE = 2  # the command line or a selection is wrong
    TOOL_MISSING = 10  # Java, Maven, Go or an engine is missing or too old
    TARGET_UNKNOWN = 11  # no such version, unreadable or wrong tarball
    TARGET_UNREACHABLE = 12  # an external address does not answer, or offers none of the APIs
    NOT_READY = 13  # a broker that we started did not become ready
    NO_ROOM = 14  # the disk is full
    ADDRESS_IN_USE = 15  # an address that we need is taken
    EVIDENCE_UNREADABLE = 16  # a run folder that replay cannot read
    TRANSACTIONS_REFUSED = 17  # an external target refuses every transactional id
    INTERNAL = 70  # Fencepost itself failed; the traceback is in the run folder
    INTERRUPTED = 130  # Ctrl-C or SIGTERM


class UserError(Exception):
    """Something outside the judged Kafka is wrong.

    ``str(error)`` is one sentence for a person, with the remedy; ``exit`` is the process's exit code.
    """

    def __init__(self, sentence: str, *, exit: ExitCode) -> None:  # noqa: A002  the word for an exit code
        super().__init__(sentence)
        self.exit = exit
