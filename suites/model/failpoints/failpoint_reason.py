"""Why a search does not find a failpoint, as data in a file that is written by hand."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from harness.evidence.json_codec import from_plain


class NamedRules(Protocol):
    """A line about a failpoint."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of its rules."""

    @property
    def places(self) -> tuple[str, ...]:
        """Class and method of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailpointReason:
    """Of all failpoints that it fits; a subclass says what they change instead.

    :param place: A regular expression for their classes and methods; :param name: for the names of their rules.
    :param reason: One sentence.
    """

    reason: str
    place: str = ""
    name: str = ""

    def fits(self, line: NamedRules) -> bool:
        """Whether this is why."""
        return _found(self.place, line.places) and _found(self.name, line.names)


ReasonT = TypeVar("ReasonT", bound=FailpointReason)


def read_reasons(kind: type[ReasonT], path: Path, table: str) -> Sequence[ReasonT]:
    """Every entry of the file's table, in its order."""
    plain = tomllib.loads(path.read_text(encoding="utf-8"))
    return [from_plain(kind, each) for each in plain.get(table, [])]


def reason_of(line: NamedRules, reasons: Sequence[ReasonT]) -> ReasonT | None:
    """The first that fits."""
    return next((each for each in reasons if each.fits(line)), None)


def unused(not_found: Sequence[NamedRules], reasons: Sequence[ReasonT]) -> Sequence[ReasonT]:
    """Reasons that none of these failpoints needs."""
    used = [reason_of(line, reasons) for line in not_found]
    return [each for each in reasons if each not in used]


def _found(pattern: str, texts: Sequence[str]) -> bool:
    return any(re.search(pattern, text) for text in texts)
