"""What came of each failpoint, a line each in ``FOLDER/chaos.jsonl``, so that a later session goes on from there."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from harness.evidence.json_codec import from_json, to_json_lines
from suites.model.failpoints.known_failpoints import KnownFailpoint

KEPT = "chaos.jsonl"


class ChaosOutcome(StrEnum):
    """What a session came to while the rules were loaded."""

    FOUND = "found"
    NOT_FOUND = "not found"
    NOT_SHOWN = "no round could be judged"
    NOT_ENTERED = "its code was never run"
    FAILED = "the rule itself failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosTrial:
    """A line.

    :param names: Of the rules. :param places: Class and method of each.
    :param refutes: Requirements with the anomaly that each must find.
    :param entered: Names of the rules whose place was come to.
    :param rounds: The scenario of each round, with its conclusion.
    :param anomalies: Those of the round that was red.
    :param why: Where no round could be judged, or the rule failed.
    """

    key: str
    version: str
    names: tuple[str, ...]
    places: tuple[str, ...]
    refutes: tuple[tuple[str, str], ...]
    outcome: ChaosOutcome = ChaosOutcome.NOT_SHOWN
    entered: tuple[str, ...] = ()
    rounds: tuple[tuple[str, str], ...] = ()
    anomalies: tuple[str, ...] = ()
    seconds: float = 0.0
    why: str = ""


def unplayed(failpoint: KnownFailpoint) -> ChaosTrial:
    """A line that says no more than which failpoint it is about."""
    return ChaosTrial(
        key=failpoint.key,
        version=failpoint.version,
        names=tuple(failpoint.names),
        places=tuple(failpoint.places),
        refutes=failpoint.refutes,
    )


@dataclass(slots=True)
class ChaosTrials:
    """All lines of a folder."""

    folder: Path
    lines: list[ChaosTrial] = field(default_factory=list)

    def __post_init__(self) -> None:
        """What earlier sessions have left is there already."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            kept = self._path.read_text(encoding="utf-8").splitlines()
            self.lines += [from_json(ChaosTrial, line) for line in kept]

    def left(self, failpoints: Sequence[KnownFailpoint]) -> Sequence[KnownFailpoint]:
        """Those that have no line yet."""
        known = {line.key for line in self.lines}
        return [each for each in failpoints if each.key not in known]

    def add(self, line: ChaosTrial) -> None:
        """Write it down at once."""
        self.lines.append(line)
        with self._path.open("ab") as stream:
            stream.write(to_json_lines([line]))

    @property
    def _path(self) -> Path:
        return self.folder / KEPT
