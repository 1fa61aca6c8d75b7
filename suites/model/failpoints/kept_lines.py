"""A file with a line for each failpoint that was tried, so that a later session goes on where one ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from harness.evidence.json_codec import from_json, to_json_lines
from suites.model.failpoints.known_failpoints import KnownFailpoint


class KeyedLine(Protocol):
    """What came of one failpoint."""

    @property
    def key(self) -> str:
        """Of the failpoint."""


LineT = TypeVar("LineT", bound=KeyedLine)


@dataclass(slots=True)
class KeptLines(Generic[LineT]):
    """All lines of a folder; a subclass says which file and what a line is."""

    FILE: ClassVar[str]
    KIND: ClassVar[type[Any]]
    folder: Path
    lines: list[LineT] = field(default_factory=list)

    def __post_init__(self) -> None:
        """What earlier sessions have left is there already."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            kept = self._path.read_text(encoding="utf-8").splitlines()
            self.lines += [from_json(self.KIND, line) for line in kept]

    def left(self, failpoints: Sequence[KnownFailpoint]) -> Sequence[KnownFailpoint]:
        """Those that have no line yet."""
        known = {line.key for line in self.lines}
        return [each for each in failpoints if each.key not in known]

    def add(self, line: LineT) -> None:
        """Write it down at once."""
        self.lines.append(line)
        with self._path.open("ab") as stream:
            stream.write(to_json_lines([line]))

    @property
    def _path(self) -> Path:
        return self.folder / self.FILE
