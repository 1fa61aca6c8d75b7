"""A list of known failures as a run writes it: what it found broken, and of an older list what is still true.

The form is that of :mod:`harness.contract.catalogue.known_failures`.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.base.user_error import ExitCode, UserError
from harness.contract.catalogue.known_failures import SEPARATOR, id_of
from harness.contract.expect import Finding
from harness.contract.level import Level
from harness.contract.verdict import Status, Verdict
from harness.report.contract.results import RequirementResult
from harness.report.shared.run_metadata import RunMetadata
from harness.report.shared.words import NOT_JUDGED, count, short

NO_LINK = "no link yet"
REASON_SHOWN = 240
"""Characters of a reason that is made of findings."""


def check_place(path: Path, read: Path | None) -> None:
    """See to it, before a run, that the list can be written at its end.

    :param read: The list that the run reads; this one alone may be written over.
    :raises UserError: When the file is there and is not the one that is read, or its folder is not there.
    """
    if path.exists() and (read is None or path.resolve() != read.resolve()):
        sentence = f"{path} exists; name it as --known-failing too, so that what is still true in it is kept"
        raise UserError(f"{sentence}, or write another file", exit=ExitCode.USAGE)
    folder = path.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UserError(f"{path} cannot be written: {folder} is no folder that we may write to", exit=ExitCode.USAGE)


def write_known(path: Path, about: RunMetadata, entries: Sequence[RequirementResult], read: Path) -> int:
    """Write the list; how many entries it has.

    :param read: The list that the run was given, if it is there: its lines stay as they are, comments too, but for
        entries that no longer fail.
    """
    before = read.read_text(encoding="utf-8").splitlines() if read.is_file() else []
    gone = {entry.row.id for entry in entries if entry.stale}
    lines = [line for line in before if id_of(line) not in gone]
    listed = {id_ for line in lines if (id_ := id_of(line))}
    found = {id_: line for id_, line in _found(entries).items() if id_ not in listed}
    if found or not before:
        lines += [*_comment(about, entries), *found.values()]
    write_atomically(path, "\n".join(lines) + "\n")
    return len(listed | set(found))


def _found(entries: Sequence[RequirementResult]) -> Mapping[str, str]:
    """A line for each requirement that is broken, as far as the profile asks for it."""
    return {
        entry.row.id: f"{entry.row.id} {SEPARATOR} {_reason(entry.verdict)} {SEPARATOR} {NO_LINK}"
        for entry in entries
        if entry.verdict and entry.status == Status.VIOLATED
    }


def _reason(verdict: Verdict) -> str:
    """The anomalies, the most binding first, and what was seen of the first."""
    findings = sorted(verdict.findings, key=_weakness)
    anomalies = ", ".join(dict.fromkeys(finding.anomaly for finding in findings))
    return short(f"{anomalies}: {findings[0].detail}".replace(SEPARATOR, "/"), REASON_SHOWN)


def _weakness(finding: Finding) -> int:
    return list(Level).index(finding.level)


def _comment(about: RunMetadata, entries: Sequence[RequirementResult]) -> list[str]:
    judged = sum(entry.status != NOT_JUDGED for entry in entries)
    when = about.started.partition("T")[0]
    all_asked = count(len(entries), "requirement", "requirements")
    title = f"{about.target}: what a run on {when} found broken, {judged} of {all_asked} judged"
    again = f"Found by: {about.command}"
    ask = "Put the reason and a link into each line (id | reason | link); an entry that no longer fails fails the run."
    return [f"# {' '.join(text.split())}" for text in (title, again, ask)]
