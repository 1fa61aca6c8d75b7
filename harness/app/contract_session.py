"""A pytest session's runs: the one on the target, or one for each release on which negative controls are tried.

Opened lazily, so that collecting, listing and offline controls start no broker; ended in every case.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TextIO

import pytest

from harness import run as flow
from harness.app.clients.refuting_clients import RefutingClients
from harness.app.side_by_side import JOBS, SideBySide
from harness.base.json_value import Json
from harness.base.paths import CLIENTS, CONTRACT, KNOWN_FAILING
from harness.cluster.run_options import RunOptions
from harness.contract import Requirement, Verdict
from harness.contract.catalogue.known_failures import KnownFailures, list_of, read_known
from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.level import Profile
from harness.contract.refuters import NONE, LiveRefuter
from harness.contract.verdict import passes
from harness.evidence.run_folder import RunFolder
from harness.lab import Lab
from harness.report.contract.changes import earlier_run
from harness.report.contract.known_failing_file import check_place, write_known
from harness.report.contract.publish import publish
from harness.report.contract.results import join
from harness.report.contract.terminal import ProgressLines, conclude
from harness.report.shared.run_metadata import run_metadata
from harness.report.shared.words import count
from harness.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractOptions:
    """The command line's options; without ``falsify`` and without a target only offline controls run.

    :param of: Whose promises the controls are of: the folders of brokers' and of clients'.
    """

    run: RunOptions
    falsify: bool = False
    of: tuple[Path, ...] = (CONTRACT, CLIENTS)
    select: str = ""
    profile: Profile = Profile.KAFKA
    known_failing: Path | None = None
    write_known_failing: Path | None = None
    plan: bool = False
    jobs: int = JOBS
    clusters: int = 1
    against: Path | None = None
    part: tuple[int, int] = (1, 1)

    def command(self, target: str) -> str:
        """The one command that does the same again on ``target``."""
        own = ["--seed", str(self.run.seed.value), *(["--select", self.select] if self.select else [])]
        own += ["--profile", self.profile, *(["--known-failing", str(self.known_failing)] * bool(self.known_failing))]
        own += ["--jobs", str(self.jobs), "--clusters", str(self.clusters)]
        return replace(self.run, target=target).command("qualify", *own)


@dataclass(slots=True, kw_only=True)
class ContractSession:
    """The runs of one pytest session, and their folders.

    :param rows: The requirements that were selected.
    :param live_items: How many live items will run.
    :param known: What the target is known to break.
    :param refuted: How many negative controls have turned red.
    """

    options: ContractOptions
    rows: Sequence[RequirementRow] = ()
    live_items: int = 0
    known: KnownFailures = field(default_factory=KnownFailures)
    runs: dict[str, Run] = field(default_factory=dict)
    reports: list[Path] = field(default_factory=list)
    refuted: int = 0
    started: float = field(default_factory=time.monotonic)
    _progress: ProgressLines | None = None
    _broken: dict[tuple[str, str], Verdict] = field(default_factory=dict)
    refuting: RefutingClients = field(init=False)
    _beside: SideBySide | None = None

    def __post_init__(self) -> None:
        """Nothing is installed before a control asks for it."""
        self.refuting = RefutingClients(self.options.run.progress)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where the requirements are: a target is asked what brokers promise."""
        return (CONTRACT,) if self.has_target else self.options.of

    @property
    def has_target(self) -> bool:
        return bool(self.options.run.target)

    @property
    def falsifying(self) -> bool:
        """Whether this session runs the live negative controls instead of the requirements."""
        return self.options.falsify

    def begin(
        self, catalogue: Sequence[RequirementRow], rows: Sequence[RequirementRow], live: Sequence[Requirement[Lab]]
    ) -> None:
        """Before the first item: what was selected of the whole catalogue, and what is known to fail.

        :param live: The requirements of all live items, in their order.
        :raises UserError: When known failures cannot be read or written, or name no requirement of the catalogue.
        """
        self.rows, self.live_items = rows, len(live)
        self._beside = SideBySide(requirements=live, jobs=self.options.jobs, clusters=self.options.clusters)
        if not self.has_target or self.falsifying:
            return
        if written := self.options.write_known_failing:
            check_place(written, self.options.known_failing)
        self.known = self._read_known()
        self.known.check_ids(row.id for row in catalogue)

    def run(self) -> Run:
        return self._open(self.options.run, self.known)

    def examine(self, requirement: Requirement[Lab]) -> Verdict:
        """The requirement's verdict on the target, beside others where that changes nothing."""
        assert self._beside is not None, "begin was not called"
        return self._beside.verdict(self.run(), requirement)

    def falsifier(self, version: str) -> Run:
        """The run on a release that is to be broken; the one before it is ended first, so that one cluster is up."""
        target, given = f"kafka:{version}", self.options.run
        for other in [name for name in self.runs if name != target]:
            flow.close(self.runs[other])
        breakable = replace(given.cluster, breakable=True)
        options = replace(given, target=target, folder=given.folder / version, cluster=breakable)
        return self._open(options, KnownFailures())

    def refute(self, requirement: Requirement[Lab], refuter: LiveRefuter) -> Verdict:
        """The verdict on what is broken so; one run of it shows all the anomalies that controls name of it."""
        run, key = self.falsifier(refuter.version), (requirement.id, repr(replace(refuter, anomaly="")))
        if key not in self._broken:
            self._broken[key] = flow.examine(run, requirement, refuter=refuter)
        return self._broken[key]

    def current(self) -> Run | None:
        """The run that was opened last."""
        return next(reversed(self.runs.values()), None)

    def print_progress(self, row: RequirementRow, verdict: Verdict) -> None:
        if self._progress is None:
            self._progress = ProgressLines(sys.stdout, total=self.live_items, profile=self.options.profile)
        self._progress.judged(row, verdict)

    def nothing_tried(self) -> bool:
        """Whether every item may pass and yet nothing was seen: all is out of reach or not offered."""
        given = [verdict for run in self.runs.values() for verdict in run.verdicts]
        return not self.falsifying and bool(given) and not passes(given, self.options.profile)

    def close(self) -> None:
        """End every cluster, seal every folder, write every report."""
        if self._beside is not None:
            self._beside.begin_no_more()
        with ExitStack() as ending:
            for run in self.runs.values():
                flow.disconnect(run)
                ending.callback(flow.close, run)
            if self._beside is not None:
                ending.callback(self._beside.stop)  # first, because what was begun uses the runs
        for run in self.runs.values():
            run.folder.add_to_run({"seconds": round(time.monotonic() - self.started, 1)})
            run.folder.seal()
            self.reports.append(publish(run.folder, self.rows_of(run), run.verdicts))
            self._write_known(run)

    def print_end(self, stream: TextIO, tests: pytest.Session) -> None:
        """The verdicts of each run; of negative controls how many turned red."""
        if self.falsifying:
            self.options.run.progress(f"{self.refuted} of {tests.testscollected} negative controls turned red")
            for id_, none in ((row.id, one) for row in self.rows for one in row.refuted_by if one.startswith(NONE)):
                self.options.run.progress(f"{id_:<20}  {none}")
            return
        for run, page in zip(self.runs.values(), self.reports, strict=True):
            conclude(stream, run.folder, self.rows_of(run), run.verdicts, page)

    def rows_of(self, run: Run) -> Sequence[RequirementRow]:
        """All that was selected, judged or not; of negative controls only what ran on that release."""
        judged = {verdict.id for verdict in run.verdicts}
        return [row for row in self.rows if row.id in judged] if self.falsifying else self.rows

    @property
    def _known_list(self) -> Path:
        """The caller's list, else where our own of this target would be."""
        return self.options.known_failing or list_of(KNOWN_FAILING, self.options.run.target)

    def _read_known(self) -> KnownFailures:
        """Empty where we have no list, and where the caller's is only about to be written."""
        given, written = self.options.known_failing, self.options.write_known_failing
        may_be_missing = given is None or (written is not None and given.resolve() == written.resolve())
        return KnownFailures() if may_be_missing and not self._known_list.exists() else read_known(self._known_list)

    def _write_known(self, run: Run) -> None:
        """What the run found broken, where that is asked for and something was judged."""
        path = self.options.write_known_failing
        if path is None or self.falsifying or not run.verdicts:
            return
        about = run_metadata(run.folder.run())
        entries = join(self.rows, run.verdicts, self.options.profile)
        number = write_known(path, about, entries, read=self._known_list)
        self.options.run.progress(f"{path} has {count(number, 'known failure', 'known failures')}")

    def _open(self, options: RunOptions, known: KnownFailures) -> Run:
        target = options.target
        if target not in self.runs:
            made = RunFolder.create(options.folder, {**self._described(target), "known_failing": dict(known.reasons)})
            self.runs[target] = Run(options=options, folder=made, journal=made.journal(), known=known)
        return self.runs[target]

    def _described(self, target: str) -> Mapping[str, Json]:
        return {
            "target": target,
            "seed": self.options.run.seed.value,
            "backend_wanted": self.options.run.backend,
            "selection": self.options.select,
            "profile": self.options.profile.value,
            "against": earlier_run(RunFolder.open(self.options.against)) if self.options.against else None,
            "command": self.options.command(target),
            "fencepost": installed_version("fencepost"),
        }
