"""``fencepost matrix RUN…``: several runs on one page, in the order given, with what differs between neighbours."""

import os
from collections.abc import Sequence
from importlib.metadata import version as installed_version
from pathlib import Path

from harness.app.from_folders.run_folders import run_folders
from harness.base.paths import CLIENTS, CONTRACT, ROOT
from harness.base.user_error import ExitCode, UserError
from harness.contract.catalogue.requirement_catalogue import find, requirement_row
from harness.evidence.run_folder import RunFolder
from harness.report.clients.spoken_versions import Speaks, speaks
from harness.report.matrix.matrix import JudgedRun, matrix
from harness.report.matrix.publish_matrix import publish_matrix
from harness.report.shared.given_verdicts import verdicts_of
from harness.report.shared.run_metadata import run_metadata


def write_matrix(folders: Sequence[Path], page: Path, *, links: bool = True) -> Path:
    """Read the run folders and write the page; its path.

    :param links: Whether the names of the runs lead to their pages, which a published page does not have beside it.
    :raises UserError: When a folder is no run's, or nothing was judged in it.
    """
    every = [each for folder in folders for each in run_folders(folder)]
    runs = [read_judged(folder, link=_link(folder, page) if links else "") for folder in every]
    catalogue = CLIENTS if any(run.about.client for run in runs) else CONTRACT
    if len({bool(run.about.client) for run in runs}) > 1:
        raise UserError("name runs on clients or runs on brokers: they are asked other things", exit=ExitCode.USAGE)
    rows = [requirement_row(entry, root=ROOT) for entry in find(catalogue)]
    return publish_matrix(matrix(rows, runs), page, fencepost=installed_version("fencepost"))


def read_judged(folder: Path, *, link: str = "") -> JudgedRun:
    """A run folder with its verdicts; :raises UserError: when it cannot be read, or nothing was judged."""
    run = RunFolder.open(folder)
    verdicts = verdicts_of(run)
    if not verdicts:
        raise UserError(f"{folder}: nothing was judged in this run", exit=ExitCode.EVIDENCE_UNREADABLE)
    about = run_metadata(run.run())
    spoken = speaks(evidence for _, evidence in run.evidence()) if about.client else Speaks()
    return JudgedRun(about=about, verdicts=verdicts, link=link, speaks=spoken)


def _link(folder: Path, page: Path) -> str:
    return os.path.relpath(folder.absolute() / "index.html", page.absolute().parent)
