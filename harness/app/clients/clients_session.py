"""A session on several clients: one run folder for each, all on one cluster, and a page with the clients side by side.

A client that cannot be had (its toolchain is missing, its program is no adapter) is NOT_EXERCISED with the remedy; the
others go on.
"""

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TextIO

import pytest

from harness import run as flow
from harness.app.side_by_side import MOST_CLUSTERS, SideBySide, second_cluster_thread
from harness.base.json_value import Json
from harness.base.paths import KNOWN_FAILING
from harness.base.user_error import ExitCode, UserError
from harness.clients.stdio.adapter_name import adapter_command
from harness.cluster.run_options import RunOptions
from harness.contract import Requirement, Status, Verdict
from harness.contract.catalogue.known_failures import KnownFailures, read_known
from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.level import Profile
from harness.contract.verdict import passes
from harness.evidence.run_folder import RunFolder
from harness.lab import Lab
from harness.lab.clients.bound import bound
from harness.lab.clients.client_lab import ClientLab
from harness.lab.clients.client_under_test import ClientUnderTest, asked_for_its_name
from harness.report.clients.clients_terminal import JudgedClient, conclude_clients
from harness.report.clients.spoken_versions import speaks
from harness.report.contract.known_failing_file import write_known
from harness.report.contract.publish import publish
from harness.report.contract.results import RequirementResult, join
from harness.report.contract.terminal import ProgressLines
from harness.report.matrix.matrix import JudgedRun, matrix
from harness.report.matrix.publish_matrix import publish_matrix
from harness.report.shared.run_metadata import run_metadata
from harness.report.shared.words import count
from harness.run import Run

CLIENT_JOBS = 6
"""Requirements of a client at a time; each has a process or two of its own."""
KNOWN_CLIENTS = KNOWN_FAILING / "clients"
PAGE = "clients.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientsOptions:
    """The command line's options.

    :param clients: As the user names them.
    :param known_failing: A folder with a list a client; None for our own.
    :param write_known: A folder into which such lists are written.
    """

    run: RunOptions
    clients: tuple[str, ...]
    select: str = ""
    profile: Profile = Profile.KIP
    known_failing: Path | None = None
    write_known: Path | None = None
    jobs: int = CLIENT_JOBS

    def command(self) -> str:
        """The one command that does the same again."""
        own = ["--clients", ",".join(self.clients), *(["--select", self.select] if self.select else [])]
        own += ["--profile", self.profile, "--seed", str(self.run.seed.value), "--jobs", str(self.jobs)]
        own += ["--known-clients", str(self.known_failing)] if self.known_failing else []
        return self.run.command("clients", *own, target=("--target", self.run.target))


@dataclass(slots=True, kw_only=True)
class Candidate:
    """One client of the session.

    :param client: None where it cannot be had; ``why`` says the reason and the remedy.
    """

    given: str
    client: ClientUnderTest | None = None
    why: str = ""
    exit: ExitCode = ExitCode.TOOL_MISSING
    run: Run | None = None
    beside: SideBySide | None = None
    known: KnownFailures = field(default_factory=KnownFailures)
    page: Path | None = None

    @property
    def name(self) -> str:
        """With its exact version, once that is known."""
        return self.client.name if self.client else self.given

    @property
    def place(self) -> str:
        """Its name as that of a file or folder: ``java-4.3.1``, of a program ``my-adapter``."""
        return "".join(letter if letter.isalnum() or letter in ".-_" else "-" for letter in self.name).strip("-.")


@dataclass(slots=True, kw_only=True)
class ClientsSession:
    """The clients of one pytest session, in the order given; the cluster goes from one to the next."""

    options: ClientsOptions
    rows: Sequence[RequirementRow] = ()
    candidates: Mapping[str, Candidate] = field(default_factory=dict)
    requirements: Mapping[str, Requirement[ClientLab]] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    _progress: ProgressLines | None = None
    _latest: Candidate | None = None
    _second_clusters: ThreadPoolExecutor = field(default_factory=second_cluster_thread)

    def get_clients(self) -> None:
        """Install what is missing and ask each for its name, before any broker is started.

        :raises UserError: for a name that is no client's, for one client that is named twice, or when none can be had.
        """
        self.candidates = {given: self._candidate(given) for given in self.options.clients}
        every = list(self.candidates.values())
        if not any(each.client for each in every):
            raise UserError("; ".join(each.why for each in every), exit=every[0].exit)
        if twice := [place for place, number in Counter(each.place for each in every).items() if number > 1]:
            raise UserError(f"--clients: {twice[0]} is named twice", exit=ExitCode.USAGE)

    def begin(
        self,
        catalogue: Sequence[RequirementRow],
        rows: Sequence[RequirementRow],
        due: Sequence[Requirement[ClientLab]],
    ) -> None:
        """Before the first item: what was selected of the whole catalogue, in the order in which each client is asked.

        :raises UserError: When known failures cannot be read, or name no requirement of the catalogue.
        """
        self.rows = rows
        self.requirements = {requirement.id: requirement for requirement in due}
        for each in self.candidates.values():
            each.known = self._known(each)
            each.known.check_ids(row.id for row in catalogue)
            if each.client is not None:
                own = [bound(one, each.client) for one in due if not each.client.lacking(one.needs)]
                each.beside = self._beside(own)

    def examine(self, given: str, requirement: Requirement[ClientLab]) -> Verdict:
        """The requirement's verdict on that client."""
        candidate = self.candidates[given]
        run = self._run(candidate)
        if candidate.client is None:
            return flow.publish(run, _unjudged(requirement, Status.NOT_EXERCISED, candidate.why))
        if lack := candidate.client.lacking(requirement.needs):
            return flow.publish(run, _unjudged(requirement, Status.NOT_OFFERED, lack))
        assert candidate.beside is not None
        return candidate.beside.verdict(run, bound(requirement, candidate.client))

    def current(self) -> Run | None:
        """The run of the client that was asked last."""
        return self._latest.run if self._latest else None

    def print_progress(self, row: RequirementRow, verdict: Verdict) -> None:
        """A line that names the client, as wide for every one."""
        if self._progress is None:
            total = len(self.requirements) * len(self.candidates)
            self._progress = ProgressLines(sys.stdout, total=total, profile=self.options.profile)
        width = max(len(each.name) for each in self.candidates.values())
        self._progress.judged(row, verdict, of=f"{self.name_of_current():<{width}}  ")

    def name_of_current(self) -> str:
        """The client that was asked last, with its exact version."""
        return self._latest.name if self._latest else ""

    def nothing_tried(self) -> bool:
        """Whether of some client nothing was seen, though each verdict on it may pass."""
        asked = [each.run.verdicts for each in self.candidates.values() if each.run is not None]
        return any(verdicts and not passes(verdicts, self.options.profile) for verdicts in asked)

    def close(self) -> None:
        """End the cluster, seal every folder, write every page."""
        for each in self.candidates.values():
            if each.beside is not None:
                each.beside.begin_no_more()
        with ExitStack() as ending:
            for each in self.candidates.values():
                if each.run is not None:
                    flow.disconnect(each.run)
                    ending.callback(flow.close, each.run)
                if each.beside is not None:
                    ending.callback(each.beside.stop)
        for each in self.candidates.values():
            if each.run is not None:
                each.run.folder.add_to_run({"seconds": round(time.monotonic() - self.started, 1)})
                each.run.folder.seal()
                each.page = publish(each.run.folder, self.rows, each.run.verdicts)
                self._write_known(each, each.run)
        self._write_page()

    def print_end(self, stream: TextIO, tests: pytest.Session) -> None:  # noqa: ARG002
        """The clients side by side, and where the pages are."""
        if told := [
            JudgedClient(name=each.name, entries=self._entries(each.run), page=each.page)
            for each in self.candidates.values()
            if each.run is not None and each.page is not None
        ]:
            conclude_clients(stream, told, self.options.run.folder / PAGE)

    def _beside(self, due: Sequence[Requirement[Lab]]) -> SideBySide:
        """Clients mostly wait: one cluster of somebody's own is up beside the common one, of one client at a time."""
        return SideBySide(
            requirements=due,
            jobs=self.options.jobs,
            clusters=MOST_CLUSTERS,
            own_beside_all=True,
            helper=self._second_clusters,
        )

    def _candidate(self, given: str) -> Candidate:
        """One that cannot be had does not keep the others from being judged; a name that is no client's does."""
        command = None
        try:
            command = adapter_command(given, self.options.run.progress)
            return Candidate(given=given, client=asked_for_its_name(command))
        except UserError as error:
            if error.exit is ExitCode.USAGE and command is None:
                raise
            if len(self.options.clients) > 1:
                self.options.run.progress(f"{given}: {error}")
            return Candidate(given=given, why=str(error), exit=error.exit)

    def _known(self, candidate: Candidate) -> KnownFailures:
        path = self._known_list(candidate)
        return read_known(path) if path.exists() else KnownFailures()

    def _known_list(self, candidate: Candidate) -> Path:
        return (self.options.known_failing or KNOWN_CLIENTS) / f"{candidate.place}.txt"

    def _entries(self, run: Run) -> Sequence[RequirementResult]:
        about = run_metadata(run.folder.run())
        return join(self.rows, run.verdicts, self.options.profile, about.than)

    def _write_known(self, candidate: Candidate, run: Run) -> None:
        """What the run found broken of the client, where that is asked for and something was judged."""
        if self.options.write_known is None or not run.verdicts:
            return
        self.options.write_known.mkdir(parents=True, exist_ok=True)
        path = self.options.write_known / f"{candidate.place}.txt"
        about = run_metadata(run.folder.run())
        number = write_known(path, about, self._entries(run), read=self._known_list(candidate))
        self.options.run.progress(f"{path} has {count(number, 'known failure', 'known failures')}")

    def _run(self, candidate: Candidate) -> Run:
        """Its run, which takes the cluster over from the client that was asked before it."""
        if candidate.run is None:
            folder = RunFolder.create(self.options.run.folder / candidate.place, self._described(candidate))
            options = replace(self.options.run, folder=folder.path)
            candidate.run = Run(options=options, folder=folder, journal=folder.journal(), known=candidate.known)
        if self._latest is not candidate:
            if self._latest is not None and self._latest.run is not None:
                run = flow.handed_on(self._latest.run, candidate.run)
                if run.cluster is not None and run.cluster.owned:
                    flow.remove_topics(run, run.cluster)  # else the cluster keeps the logs of all clients
            self._latest = candidate
        return candidate.run

    def _described(self, candidate: Candidate) -> Mapping[str, Json]:
        client = candidate.client
        return {
            "target": self.options.run.target,
            "client": candidate.name,
            "library": client.library if client else "",
            "library_version": client.version if client else "",
            "seed": self.options.run.seed.value,
            "backend_wanted": self.options.run.backend,
            "selection": self.options.select,
            "profile": self.options.profile.value,
            "command": self.options.command(),
            "known_failing": dict(candidate.known.reasons),
            "fencepost": installed_version("fencepost"),
        }

    def _write_page(self) -> None:
        runs = [
            JudgedRun(
                about=run_metadata(each.run.folder.run()),
                verdicts=each.run.verdicts,
                link=f"{each.run.folder.path.name}/index.html",
                speaks=speaks(evidence for _, evidence in each.run.folder.evidence()),
            )
            for each in self.candidates.values()
            if each.run is not None and each.run.verdicts
        ]
        if runs:
            page = self.options.run.folder / PAGE
            publish_matrix(matrix(self.rows, runs), page, fencepost=installed_version("fencepost"))


def _unjudged(requirement: Requirement[ClientLab], status: Status, reason: str) -> Verdict:
    return Verdict(id=requirement.id, level=requirement.level, status=status, reason=reason)
