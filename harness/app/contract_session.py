"""A pytest session's runs: the one on the target, or one for each release on which negative controls are tried.

Opened lazily, so that collecting, listing and offline controls start no broker; ended in every case.
"""

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version as installed_version
from pathlib import Path

import pytest

from harness import run as flow
from harness.base.json_value import Json
from harness.base.seed import Seed
from harness.cluster.cluster import ClusterOptions
from harness.contract.known_failures import KnownFailures, read_known
from harness.contract.requirement_catalogue import RequirementRow
from harness.evidence.run_folder import RunFolder
from harness.report.contract.publish import publish
from harness.run import Plan, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractOptions:
    """What the command line asked for."""

    target: str | None
    backend: str
    seed: Seed
    folder: Path
    options: ClusterOptions
    falsify: bool
    select: str
    known_failing: Path

    def again(self, target: str) -> str:
        """The one command that does the same again."""
        words = ["fencepost", "qualify", target, "--backend", self.backend, "--seed", str(self.seed.value)]
        words += ["--select", self.select] if self.select else []
        words += [f"--broker-jvm-opt={option}" for option in self.options.jvm_options]
        words += [f"--broker-property={key}={value}" for key, value in self.options.properties.items()]
        return shlex.join(words)


@dataclass(slots=True, kw_only=True)
class ContractSession:
    """The runs of one pytest session, and their folders."""

    wish: ContractOptions
    progress: Callable[[str], None]
    rows: Sequence[RequirementRow] = ()
    runs: dict[str, Run] = field(default_factory=dict)
    reports: list[Path] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @property
    def has_target(self) -> bool:
        """Whether live items can run."""
        return self.wish.target is not None

    @property
    def falsifying(self) -> bool:
        """Whether this session runs the live negative controls instead of the requirements."""
        return self.wish.falsify

    def run(self) -> Run:
        """The run on the session's target."""
        assert self.wish.target is not None
        known = read_known(self.wish.known_failing, self.wish.target)
        return self._open(self.wish.target, self.wish.folder, self.wish.options, known)

    def falsifier(self, version: str) -> Run:
        """The run on a release that is to be broken; the one before it is ended first, so that one cluster is up."""
        target = f"kafka:{version}"
        for other in [name for name in self.runs if name != target]:
            flow.close(self.runs[other])
        options = replace(self.wish.options, breakable=True)
        return self._open(target, self.wish.folder / version, options, KnownFailures())

    def current(self) -> Run | None:
        """The run that was opened last."""
        return next(reversed(self.runs.values()), None)

    def close(self) -> None:
        """End every cluster, seal every folder, write every report."""
        for run in self.runs.values():
            flow.close(run)
        for run in self.runs.values():
            run.folder.write_run({**run.folder.run(), "seconds": round(time.monotonic() - self.started, 1)})
            run.folder.seal()
            self.reports.append(publish(run.folder, self.rows_of(run), run.verdicts))

    def rows_of(self, run: Run) -> Sequence[RequirementRow]:
        """All that was selected, judged or not; of negative controls only what ran on that release."""
        judged = {verdict.id for verdict in run.verdicts}
        return [row for row in self.rows if row.id in judged] if self.falsifying else self.rows

    def _open(self, target: str, folder: Path, options: ClusterOptions, known: KnownFailures) -> Run:
        if target not in self.runs:
            known.check_ids(row.id for row in self.rows)
            plan = Plan(
                target=target,
                folder=folder,
                backend=self.wish.backend,
                seed=self.wish.seed,
                options=options,
                progress=self.progress,
            )
            made = RunFolder.create(folder, self._described(target))
            self.runs[target] = Run(plan=plan, folder=made, journal=made.journal(), known=known)
        return self.runs[target]

    def _described(self, target: str) -> Mapping[str, Json]:
        return {
            "target": target,
            "seed": self.wish.seed.value,
            "backend_wanted": self.wish.backend,
            "selection": self.wish.select,
            "command": self.wish.again(target),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "fencepost": installed_version("fencepost"),
        }


SESSION = pytest.StashKey[ContractSession]()
