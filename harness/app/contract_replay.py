"""Steps 8 and 9 on a folder from last week: the same judge, the same pages, no network."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.contract import Status, Verdict, judge
from harness.contract.requirement_catalogue import CatalogueEntry, RequirementRow
from harness.evidence.json_codec import Malformed, from_json
from harness.evidence.run_folder import RunFolder
from harness.report.contract.publish import publish


def replay(
    path: Path, entries: Sequence[CatalogueEntry], rows: Sequence[RequirementRow]
) -> tuple[RunFolder, list[RequirementRow], list[Verdict], Path]:
    """Judge the folder's evidence again with today's checks and write its pages anew.

    Verdicts that rest on no evidence (NOT_OFFERED) are taken over as they were given.

    :raises Trouble: When the folder cannot be read, or names a requirement that is not in the catalogue.
    """
    folder = RunFolder.open(path)
    given = {verdict.id: verdict for verdict in verdicts_of(folder)}
    stated = {entry.requirement.id: entry.requirement for entry in entries}
    again: dict[str, Verdict] = {}
    for name, evidence in folder.evidence():
        requirement = stated.get(name.partition("@")[0])
        if requirement is None:
            raise UserError(f"{path} judges {name}, which no requirement states", exit=ExitCode.EVIDENCE_UNREADABLE)
        before = given.get(requirement.id)
        fresh = judge(requirement, evidence, seconds=before.seconds if before else 0.0)
        again[name] = _with_known(fresh, before)
    kept = {name: verdict for name, verdict in given.items() if verdict.status == Status.NOT_OFFERED}
    verdicts = list({**kept, **again}.values())
    judged = [row for row in rows if row.id in {verdict.id for verdict in verdicts}]
    return folder, judged, verdicts, publish(folder, judged, verdicts)


def verdicts_of(folder: RunFolder) -> list[Verdict]:
    """The verdicts as they were given; :raises Trouble: when a line cannot be read."""
    path = folder.path / "verdicts.jsonl"
    if not path.is_file():
        return []
    try:
        return [from_json(Verdict, line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    except Malformed as error:
        raise UserError(f"{path}: {error}", exit=ExitCode.EVIDENCE_UNREADABLE) from error


def _with_known(fresh: Verdict, before: Verdict | None) -> Verdict:

    return replace(fresh, known_failure=before.known_failure) if before else fresh
