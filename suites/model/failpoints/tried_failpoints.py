"""What came of each failpoint: a file with a line for each, so that a later session goes on where one ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from harness.evidence.json_codec import from_json, to_json_lines
from harness.explore.cell_results import Difference
from suites.model.failpoints.known_failpoints import KnownFailpoint

TRIED = "failpoints.jsonl"


class FailpointOutcome(StrEnum):
    """What the grid came to while the rules were loaded."""

    CAUGHT = "caught"
    LOST = "brokers stopped answering"
    NOT_CAUGHT = "not caught"
    NOT_ENTERED = "its code was never run"
    OF_A_TOOL = "no broker runs it"
    FAILED = "the rule itself failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedFailpoint:
    """A line.

    :param names: Of the rules. :param places: Class and method of each.
    :param refutes: Requirements with the anomaly that each must find.
    :param entered: Names of the rules whose place was come to. :param cells: That were compared.
    :param differing: How many of these differ.
    :param request: Of the first that differs, after the shortest path; :param state: the row; :param differences: it.
    :param why: Where brokers stopped answering, or the rule failed.
    """

    key: str
    version: str
    names: tuple[str, ...]
    places: tuple[str, ...]
    refutes: tuple[tuple[str, str], ...]
    outcome: FailpointOutcome
    entered: tuple[str, ...] = ()
    cells: int = 0
    differing: int = 0
    seconds: float = 0.0
    request: str = ""
    state: str = ""
    differences: tuple[Difference, ...] = ()
    why: str = ""

    @property
    def is_seen(self) -> bool:
        """Whether the grid tells this Kafka from a sound one."""
        return self.outcome in (FailpointOutcome.CAUGHT, FailpointOutcome.LOST)


def tried(failpoint: KnownFailpoint, outcome: FailpointOutcome) -> TriedFailpoint:
    """A line that says no more than which failpoint it is about."""
    return TriedFailpoint(
        key=failpoint.key,
        version=failpoint.version,
        names=tuple(failpoint.names),
        places=tuple(failpoint.places),
        refutes=failpoint.refutes,
        outcome=outcome,
    )


@dataclass(slots=True)
class TriedFailpoints:
    """``FOLDER/failpoints.jsonl``."""

    folder: Path
    lines: list[TriedFailpoint] = field(default_factory=list)

    def __post_init__(self) -> None:
        """What earlier sessions have left is there already."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            kept = self._path.read_text(encoding="utf-8").splitlines()
            self.lines += [from_json(TriedFailpoint, line) for line in kept]

    def left(self, failpoints: Sequence[KnownFailpoint]) -> Sequence[KnownFailpoint]:
        """Those that have no line yet."""
        known = {line.key for line in self.lines}
        return [each for each in failpoints if each.key not in known]

    def add(self, line: TriedFailpoint) -> None:
        """Write it down at once."""
        self.lines.append(line)
        with self._path.open("ab") as stream:
            stream.write(to_json_lines([line]))

    @property
    def _path(self) -> Path:
        return self.folder / TRIED
