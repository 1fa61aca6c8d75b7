"""A pytest session's runs: the one on the target, or one for each release on which negative controls are tried.

Opened lazily, so that collecting, listing and offline controls start no broker; ended in every case.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TextIO

import pytest

from harness import run as flow
from harness.base.json_value import Json
from harness.base.paths import KNOWN_FAILING
from harness.cluster.run_options import RunOptions
from harness.contract import Verdict
from harness.contract.known_failures import KnownFailures, read_known
from harness.contract.level import Profile
from harness.contract.requirement_catalogue import RequirementRow
from harness.evidence.run_folder import RunFolder
from harness.report.contract.publish import publish
from harness.report.contract.terminal import ProgressLines, conclude
from harness.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractOptions:
    """The command line's options; without ``falsify`` and without a target only offline controls run."""

    run: RunOptions
    falsify: bool = False
    select: str = ""
    profile: Profile = Profile.KAFKA
    known_failing: Path | None = None
    write_known_failing: Path | None = None
    plan: bool = False

    def command(self, target: str) -> str:
        """The one command that does the same again on ``target``."""
        own = ["--seed", str(self.run.seed.value), *(["--select", self.select] if self.select else [])]
        own += ["--profile", self.profile, *(["--known-failing", str(self.known_failing)] * bool(self.known_failing))]
        return replace(self.run, target=target).command("qualify", *own)


@dataclass(slots=True, kw_only=True)
class ContractSession:
    """The runs of one pytest session, and their folders.

    :param rows: The requirements that were selected.
    :param live_items: How many live items will run.
    """

    options: ContractOptions
    rows: Sequence[RequirementRow] = ()
    live_items: int = 0
    runs: dict[str, Run] = field(default_factory=dict)
    reports: list[Path] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    _progress: ProgressLines | None = None

    @property
    def has_target(self) -> bool:
        return bool(self.options.run.target)

    @property
    def falsifying(self) -> bool:
        """Whether this session runs the live negative controls instead of the requirements."""
        return self.options.falsify

    def run(self) -> Run:
        options = self.options.run
        return self._open(options, read_known(KNOWN_FAILING, options.target))

    def falsifier(self, version: str) -> Run:
        """The run on a release that is to be broken; the one before it is ended first, so that one cluster is up."""
        target, given = f"kafka:{version}", self.options.run
        for other in [name for name in self.runs if name != target]:
            flow.close(self.runs[other])
        breakable = replace(given.cluster, breakable=True)
        options = replace(given, target=target, folder=given.folder / version, cluster=breakable)
        return self._open(options, KnownFailures())

    def current(self) -> Run | None:
        """The run that was opened last."""
        return next(reversed(self.runs.values()), None)

    def print_progress(self, row: RequirementRow, verdict: Verdict) -> None:
        self._progress = self._progress or ProgressLines(stream=sys.stdout, total=self.live_items)
        self._progress.judged(row, verdict)

    def close(self) -> None:
        """End every cluster, seal every folder, write every report."""
        for run in self.runs.values():
            flow.close(run)
        for run in self.runs.values():
            run.folder.add_to_run({"seconds": round(time.monotonic() - self.started, 1)})
            run.folder.seal()
            self.reports.append(publish(run.folder, self.rows_of(run), run.verdicts))

    def print_end(self, stream: TextIO, tests: pytest.Session) -> None:
        """The verdicts of each run; of negative controls how many turned red."""
        if self.falsifying:
            red = tests.testscollected - tests.testsfailed
            self.options.run.progress(f"{red} of {tests.testscollected} negative controls turned red")
            return
        for run, page in zip(self.runs.values(), self.reports, strict=True):
            conclude(stream, run.folder, self.rows_of(run), run.verdicts, page)

    def rows_of(self, run: Run) -> Sequence[RequirementRow]:
        """All that was selected, judged or not; of negative controls only what ran on that release."""
        judged = {verdict.id for verdict in run.verdicts}
        return [row for row in self.rows if row.id in judged] if self.falsifying else self.rows

    def _open(self, options: RunOptions, known: KnownFailures) -> Run:
        target = options.target
        if target not in self.runs:
            known.check_ids(row.id for row in self.rows)
            made = RunFolder.create(options.folder, self._described(target))
            self.runs[target] = Run(options=options, folder=made, journal=made.journal(), known=known)
        return self.runs[target]

    def _described(self, target: str) -> Mapping[str, Json]:
        return {
            "target": target,
            "seed": self.options.run.seed.value,
            "backend_wanted": self.options.run.backend,
            "selection": self.options.select,
            "profile": self.options.profile.value,
            "command": self.options.command(target),
            "fencepost": installed_version("fencepost"),
        }
