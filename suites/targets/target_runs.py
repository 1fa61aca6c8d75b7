"""A qualification of one target in a process of its own, and what it found."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from harness.base.paths import CONTRACT, ROOT
from harness.contract.catalogue.requirement_catalogue import find, requirement_row
from harness.contract.catalogue.selection import LEFT_OUT, selected
from suites.qualification import qualification
from suites.targets.target_shapes import TargetShape

SEED = 7
FAILING = ("VIOLATED", "UNDECIDED", "NOT_EXERCISED")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetRun:
    """What came of it.

    :param commands: As a person would type them: one, and one more for each requirement that ends the target.
    :param seconds: Of all of them.
    :param verdicts: As in ``report.json``.
    """

    shape: TargetShape
    commands: Sequence[str]
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

    What ends the target is judged afterwards, each on a target of its own, in folders beside it.

    :raises RuntimeError: When there is no report, with the last line of the output.
    """
    return together([_judged(shape, place, words) for place, words in _parts(shape, folder, select)])


def together(runs: Sequence[TargetRun]) -> TargetRun:
    """One run of what was judged on several targets of a shape: the worst exit code, the verdicts by id."""
    verdicts = (verdict for run in runs for verdict in run.verdicts)
    return TargetRun(
        shape=runs[0].shape,
        commands=[command for run in runs for command in run.commands],
        exit_code=max(run.exit_code for run in runs),
        seconds=sum(run.seconds for run in runs),
        verdicts=sorted(verdicts, key=itemgetter("id")),
    )


def _parts(shape: TargetShape, folder: Path, select: str) -> Iterator[tuple[Path, str]]:
    chosen = _chosen(select)
    ending = [one for one in shape.ended_by if one in chosen]
    if chosen.difference(ending):
        yield folder, ",".join(filter(None, (select, *(f"{LEFT_OUT}{one}" for one in ending))))
    yield from ((folder.with_name(f"{folder.name}-{one}"), one) for one in ending)


def _chosen(select: str) -> frozenset[str]:
    rows = [requirement_row(entry, root=ROOT) for entry in find(CONTRACT)]
    return selected(select, rows) if select else frozenset(row.id for row in rows)


def _judged(shape: TargetShape, folder: Path, select: str) -> TargetRun:
    folder.mkdir(parents=True)
    files = folder / "target"
    files.mkdir()
    with shape.opened(files) as words:
        own = [*words, "--seed", str(SEED), *(["--select", select] if select else [])]
        ended = qualification(own, folder)
    return TargetRun(
        shape=shape,
        commands=[shlex.join(["fencepost", "qualify", *(_shown(word, files) for word in own)])],
        exit_code=ended.exit_code,
        seconds=ended.seconds,
        verdicts=ended.verdicts,
    )


def _shown(word: str, files: Path) -> str:
    """A file of the target by its name alone, because it is gone with the run."""
    return Path(word).name if word.startswith(str(files)) else word
