"""Why the grid does not find a failpoint, as data: ``unseen.toml`` beside this file, written by hand."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.evidence.json_codec import from_plain
from suites.model.failpoints.tried_failpoints import TriedFailpoint

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
class UnseenReason:
    """Of all failpoints that it fits.

    :param place: A regular expression for their classes and methods; :param name: for the names of their rules.
    :param reason: One sentence.
    """

    because: UnseenBecause
    reason: str
    place: str = ""
    name: str = ""

    def fits(self, line: TriedFailpoint) -> bool:
        """Whether this is why."""
        return _found(self.place, line.places) and _found(self.name, line.names)


def _found(pattern: str, texts: Sequence[str]) -> bool:
    return any(re.search(pattern, text) for text in texts)


def read_reasons(path: Path = UNSEEN) -> Sequence[UnseenReason]:
    """Every entry of the file, in its order."""
    plain = tomllib.loads(path.read_text(encoding="utf-8"))
    return [from_plain(UnseenReason, each) for each in plain.get("unseen", [])]


def reason_of(line: TriedFailpoint, reasons: Sequence[UnseenReason]) -> UnseenReason | None:
    """The first that fits."""
    return next((each for each in reasons if each.fits(line)), None)
