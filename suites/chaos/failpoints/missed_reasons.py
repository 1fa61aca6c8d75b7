"""Why a session of chaos does not find a failpoint: ``missed.toml`` beside this file."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from suites.model.failpoints.failpoint_reason import FailpointReason, read_reasons

MISSED = Path(__file__).with_name("missed.toml")


class MissedBecause(StrEnum):
    """What it changes instead."""

    OTHER_USE = "what chaos does not ask brokers, or a setting that it does not have"
    NOT_SHOWN = "nothing that a client, a reader or the log shows"
    COVERED = "only what another defence refuses as well"
    SELDOM = "a case that a session seldom has"
    MISSED = "what chaos could show, and does not"


WITHIN_REACH = (MissedBecause.SELDOM, MissedBecause.MISSED)
"""What a longer or a better session finds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedReason(FailpointReason):
    """An entry of the file."""

    because: MissedBecause


def read_missed(path: Path = MISSED) -> Sequence[MissedReason]:
    """Every entry of the file, in its order."""
    return read_reasons(MissedReason, path, "missed")
