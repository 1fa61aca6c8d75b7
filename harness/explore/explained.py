"""Differences whose cause in Kafka's source is known: data, in ``suites/model/explained.toml``."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.evidence.json_codec import Malformed, from_plain
from harness.explore.cell_results import CellResult, Difference
from harness.model.protocol_profile import ProtocolProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedDifference:
    """Explains the differences that fit all that it names; what is left empty fits any.

    :param profile: Fields of the profile for which it holds.
    :param state: A regular expression for the row; :param request: for the column; :param part: for what differs.
    :param expected: A regular expression for what the model says; :param seen: for what was seen.
    :param reason: One sentence. :param source: Class and method of Kafka.
    """

    reason: str
    source: str
    profile: Mapping[str, bool | int]
    state: str = ""
    request: str = ""
    part: str = ""
    expected: str = ""
    seen: str = ""

    def holds_for(self, profile: ProtocolProfile) -> bool:
        """Whether the target does things as this entry is about."""
        return all(getattr(profile, name) == value for name, value in self.profile.items())

    def fits(self, result: CellResult, difference: Difference) -> bool:
        """Whether this is why."""
        pairs = (
            (self.state, result.state),
            (self.request, result.request),
            (self.part, difference.part),
            (self.expected, difference.expected),
            (self.seen, difference.seen),
        )
        return all(re.search(pattern, text) for pattern, text in pairs)


def read_explanations(path: Path, profile: ProtocolProfile) -> Sequence[ExplainedDifference]:
    """Those that hold for the profile; :raises UserError: when the file cannot be understood."""
    known = {each.name for each in fields(ProtocolProfile)}
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        read = [from_plain(ExplainedDifference, each) for each in plain.get("explained", [])]
        for each in read:
            _check(each, known)
    except (OSError, ValueError, Malformed, re.error) as error:
        raise UserError(f"{path} cannot be understood: {error}", exit=ExitCode.USAGE) from error
    return [each for each in read if each.holds_for(profile)]


def _check(each: ExplainedDifference, known: set[str]) -> None:
    if unknown := sorted(set(each.profile) - known):
        raise ValueError(f"a profile has no {', '.join(unknown)}")
    for pattern in (each.state, each.request, each.part, each.expected, each.seen):
        re.compile(pattern)


def explanation_of(result: CellResult, known: Sequence[ExplainedDifference]) -> Sequence[ExplainedDifference]:
    """Those that together explain every difference of the cell; () where one is left."""
    found = [next((each for each in known if each.fits(result, one)), None) for one in result.differences]
    return [each for each in found if each is not None] if found and None not in found else ()
