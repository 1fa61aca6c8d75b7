"""Cells of a table of errors in few words: one API, several errors, one behaviour.

Java 4 at ``transaction.version`` 2 sends no AddPartitionsToTxn and no AddOffsetsToTxn, so cells of these use the old
protocol.
"""

from collections.abc import Sequence
from typing import Literal, TypedDict, Unpack

from harness.contract import Library
from harness.contract.clients.error_case import Behaviour, ErrorCase

Cells = tuple[ErrorCase, ...]
RETRIED, ABORTABLE, FATAL = Behaviour.RETRIED, Behaviour.ABORTABLE, Behaviour.FATAL
OF_OLD_PROTOCOL = ("AddPartitionsToTxn", "AddOffsetsToTxn")
JAVA = ("java",)


class CellWords(TypedDict, total=False):
    """What :class:`ErrorCase` says beside API, error and behaviour."""

    but: Sequence[tuple[Library, tuple[Behaviour, ...]]]
    ending: Literal["commit", "abort"]
    times: int | None
    bumps: bool
    of_group: bool
    second: bool
    also: tuple[str, ...]
    lowest: int
    log_start: int


def cells(api: str, *errors: int, behaves: tuple[Behaviour, ...], **more: Unpack[CellWords]) -> Cells:
    """One for each error; several behaviours where each is right."""
    protocol: Literal[1] | None = 1 if api in OF_OLD_PROTOCOL else None
    return tuple(ErrorCase(api=api, error=error, behaves=behaves, protocol=protocol, **more) for error in errors)


def retried(api: str, *errors: int, **more: Unpack[CellWords]) -> Cells:
    """The request is sent again."""
    return cells(api, *errors, behaves=(RETRIED,), **more)


def abortable(api: str, *errors: int, **more: Unpack[CellWords]) -> Cells:
    """The transaction fails, and the next one does not."""
    return cells(api, *errors, behaves=(ABORTABLE,), **more)


def fatal(api: str, *errors: int, **more: Unpack[CellWords]) -> Cells:
    """The instance commits nothing more."""
    return cells(api, *errors, behaves=(FATAL,), **more)
