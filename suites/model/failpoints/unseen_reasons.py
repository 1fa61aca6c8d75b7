"""Why the grid does not find a failpoint: ``unseen.toml`` beside this file."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from suites.model.failpoints.failpoint_reason import FailpointReason, read_reasons

UNSEEN = Path(__file__).with_name("unseen.toml")


class UnseenBecause(StrEnum):
    """What it changes instead."""

    OTHER_API = "an API that the grid does not ask"
    NO_STATE = "neither an answer nor a state"
    OUT_OF_ORDER = "only what a failover, a timeout, a lost or an overlapping message leads to"
    FAR_AWAY = "only more requests, or more time, than a path has"
    OTHER_CLUSTER = "only a cluster of another setting, feature level or release"
    MISSED = "what the grid could ask, and does not"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenReason(FailpointReason):
    """An entry of the file."""

    because: UnseenBecause


def read_unseen(path: Path = UNSEEN) -> Sequence[UnseenReason]:
    """Every entry of the file, in its order."""
    return read_reasons(UnseenReason, path, "unseen")
