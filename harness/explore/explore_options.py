"""What ``fencepost explore`` is given, and what an earlier exploration leaves for one that goes on behind it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.json_value import Json
from harness.base.seed import Seed
from harness.base.user_error import ExitCode, UserError
from harness.cluster.run_options import RunOptions
from harness.evidence.json_codec import Malformed, from_json
from harness.evidence.run_folder import RunFolder
from harness.explore.cell_results import CellResult
from harness.explore.findings import CELLS, SEEN
from harness.model.protocol_profile import ProtocolProfile

KIND = "explore"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """What the command line gives.

    :param limit: Of cells, those of the nearest states; None for all.
    :param slow: The cells of events and of messages that wait, in place of the others.
    :param profile: What the target must do; None for what its brokers advertise.
    :param defended: Whether it must have the defence of KIP-890 part 1, advertised or not.
    :param records: Whether what coordinators write is compared too, where the target shows it.
    :param walk_seconds: Walks are asked for so long, in place of cells.
    :param resume: The folder of an exploration that was interrupted or lost, which this one goes on with.
    """

    run: RunOptions
    limit: int | None = None
    slow: bool = False
    profile: ProtocolProfile | None = None
    defended: bool = False
    records: bool = True
    walk_seconds: float | None = None
    resume: Path | None = None

    def command(self) -> str:
        """The one command that does the same again."""
        own = ["--seed", str(self.run.seed.value), *(["--limit", str(self.limit)] if self.limit is not None else [])]
        own += ["--slow"] if self.slow else []
        own += ["--defended"] if self.defended else []
        own += ["--walks", f"{self.walk_seconds:g}s"] if self.walk_seconds is not None else []
        own += [] if self.resume is None else ["--resume", str(self.resume)]
        return self.run.command("explore", *own)

    def described(self) -> Mapping[str, Json]:
        """For ``run.json``."""
        return {
            "kind": KIND,
            "target": self.run.target,
            "seed": self.run.seed.value,
            "limit": self.limit,
            "slow": self.slow,
            "defended": self.defended,
            "walking": self.walk_seconds is not None,
            "command": self.command(),
        }

    def continued(self) -> "ExploreOptions":
        """With the seed and the cells of the folder that is resumed, where there is one.

        :raises UserError: When the folder cannot be read, or is of another target, or of walks where this is of cells.
        """
        if self.resume is None:
            return self
        earlier = RunFolder.open(self.resume, kind=KIND).run()
        if earlier.get("target") != self.run.target or earlier.get("walking") != (self.walk_seconds is not None):
            what = "walks" if earlier.get("walking") else "cells"
            sentence = f"{self.resume} has {what} of {earlier.get('target')}, which this command does not go on with"
            raise UserError(sentence, exit=ExitCode.USAGE)
        seed, limit = earlier["seed"], earlier["limit"]
        assert isinstance(seed, int), "a seed in run.json"
        assert limit is None or isinstance(limit, int), "a limit in run.json"
        run = replace(self.run, seed=Seed(seed))
        return replace(self, run=run, limit=limit, slow=bool(earlier["slow"]), defended=bool(earlier["defended"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierCells:
    """What an exploration has compared. :param seen: Lines of ``seen.jsonl``, as they are."""

    results: Mapping[int, CellResult]
    seen: tuple[str, ...]


def read_earlier_cells(folder: Path) -> EarlierCells:
    """Of its folder; a last line that is torn does not count.

    :raises UserError: When another line is malformed.
    """
    results = {each.cell: each for each in _results(folder / CELLS)}
    return EarlierCells(results=results, seen=tuple(_whole_lines(folder / SEEN)))


def _results(path: Path) -> Iterator[CellResult]:
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            yield from_json(CellResult, line)
        except Malformed as error:
            raise UserError(f"{path}, line {number}: {error}", exit=ExitCode.EVIDENCE_UNREADABLE) from error


def _whole_lines(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return (line for line in text.splitlines(keepends=True) if line.endswith("\n"))
