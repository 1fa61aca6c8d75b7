"""A qualification of one target in a process of its own, and what it found."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suites.qualification import qualification
from suites.targets.target_shapes import TargetShape

SEED = 7
FAILING = ("VIOLATED", "UNDECIDED", "NOT_EXERCISED")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRun:
    """What came of it.

    :param command: As a person would type it.
    :param seconds: Of the whole command.
    :param verdicts: As in ``report.json``.
    """

    shape: TargetShape
    command: str
    exit_code: int
    seconds: float
    verdicts: Sequence[Mapping[str, Any]]

    @property
    def counts(self) -> Mapping[str, int]:
        """Verdicts of each status."""
        return Counter(verdict["status"] for verdict in self.verdicts)

    def failing(self) -> Sequence[Mapping[str, Any]]:
        """Verdicts that must be explained."""
        return [verdict for verdict in self.verdicts if verdict["status"] in FAILING]


def judged(shape: TargetShape, folder: Path, select: str) -> TargetRun:
    """Start the target, judge it, end it; its output goes to ``folder/output.txt``.

    :raises RuntimeError: When there is no report, with the last line of the output.
    """
    folder.mkdir(parents=True)
    files = folder / "target"
    files.mkdir()
    with shape.opened(files) as words:
        own = [*words, "--seed", str(SEED), *(["--select", select] if select else [])]
        ended = qualification(own, folder)
    return TargetRun(
        shape=shape,
        command=shlex.join(["fencepost", "qualify", *(_shown(word, files) for word in own)]),
        exit_code=ended.exit_code,
        seconds=ended.seconds,
        verdicts=ended.verdicts,
    )


def _shown(word: str, files: Path) -> str:
    """A file of the target by its name alone, because it is gone with the run."""
    return Path(word).name if word.startswith(str(files)) else word
