"""``fencepost replay``: steps 8 and 9 on a folder from last week; the same judges, the same pages, no network."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.app.from_folders.run_folders import catalogue_of, run_folders
from harness.base.paths import ROOT
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.round_folders import rounds_of, was_played
from harness.contract import Requirement, Status, Verdict, judge, passes
from harness.contract.catalogue.requirement_catalogue import requirement_row
from harness.evidence.run_folder import RunFolder
from harness.report.contract.publish import publish
from harness.report.contract.terminal import conclude
from harness.report.shared.given_verdicts import verdicts_of
from harness.report.shared.run_metadata import run_metadata


def replay(folder: Path, *, master: str, progress: Callable[[str], None]) -> bool:
    """Judge the folder's evidence again with today's checks and write its pages again; whether all is kept.

    :raises UserError: When the folder cannot be read, names a requirement that is not in the catalogue, or holds chaos
        and Spark cannot be had.
    """
    rounds = rounds_of(folder.absolute())
    if rounds:
        return _chaos(folder.absolute(), rounds, master, progress)
    kept = [_contract(RunFolder.open(each)) for each in run_folders(folder)]
    return all(kept)


def _contract(folder: RunFolder) -> bool:
    """Verdicts that rest on no evidence (NOT_OFFERED, a stimulus that crashed) are taken over as they were given."""
    given = {verdict.id: verdict for verdict in verdicts_of(folder)}
    catalogue = catalogue_of(folder)
    again = _judged_again(folder, given, {entry.requirement.id: entry.requirement for entry in catalogue})
    verdicts = [verdict for id_, verdict in given.items() if id_ not in {fresh.id for fresh in again}] + again
    rows = [requirement_row(entry, root=ROOT) for entry in catalogue]
    judged = [row for row in rows if row.id in {verdict.id for verdict in verdicts}]
    conclude(sys.stdout, folder, judged, verdicts, publish(folder, judged, verdicts))
    return passes(verdicts, run_metadata(folder.run()).profile)


def _judged_again(
    folder: RunFolder, given: Mapping[str, Verdict], requirements: Mapping[str, Requirement[Any]]
) -> list[Verdict]:
    """The verdicts on the folder's evidence, with what was known to fail when it was made."""
    known, again = _known_failing(folder, given), []
    for name, evidence in folder.evidence():
        requirement = requirements.get(name.partition("@")[0])
        if requirement is None:
            sentence = f"{folder.path} judges {name}, which no requirement states"
            raise UserError(sentence, exit=ExitCode.EVIDENCE_UNREADABLE)
        before = given.get(requirement.id)
        fresh = judge(requirement, evidence, seconds=before.seconds if before else 0.0)
        again.append(replace(fresh, known_failure=known.get(requirement.id)))
    return again


def _known_failing(folder: RunFolder, given: Mapping[str, Verdict]) -> Mapping[str, str]:
    """From ``run.json``; older folders have it in their verdicts only."""
    listed = folder.run().get("known_failing")
    if isinstance(listed, dict):
        return {id_: str(reason) for id_, reason in listed.items()}
    return {id_: verdict.known_failure for id_, verdict in given.items() if verdict.known_failure}


def _chaos(folder: Path, rounds: tuple[Path, ...], master: str, progress: Callable[[str], None]) -> bool:
    # Brings in Spark, which no other command needs.
    from harness.report.chaos import conclude_session, publish_session, round_line
    from harness.run_chaos import judge, publish
    from harness.spark.session.spark_session import open_session
    from harness.spark.session.spark_settings import Build

    build, judged = Build.fit_for(max(map(_history_bytes, rounds))), []
    progress(f"starting Spark on {master}")
    with open_session(name="fencepost-replay", master=master, progress=progress, build=build) as spark:
        for number, round_ in enumerate(rounds, start=1):
            judged += [judge(spark, round_)] if was_played(round_) else []
            page = publish(round_)
            round_line(sys.stdout, round_, number=number, of=len(rounds))
    if folder not in rounds:
        page = publish_session(folder, rounds)
    conclude_session(sys.stdout, folder, rounds, page)
    return bool(judged) and all(judgement.status is Status.HOLDS for judgement in judged)


def _history_bytes(round_: Path) -> int:
    return sum(file.stat().st_size for file in (round_ / "history").rglob("*") if file.is_file())
