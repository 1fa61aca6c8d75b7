"""What a run says and how it ends, from the offline controls' evidence; a replay ends as the run did."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.base.user_error import ExitCode
from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.controlled_run import (
    CRASHED,
    HABIT,
    NO_LINKS,
    NOT_EXERCISED,
    NOT_OFFERED,
    OUT_OF_REACH,
    REST,
    VIOLATED,
    qualified,
    replayed,
    with_habit,
)

TRIED, OTHER = "KIP890-VERIFY-03", "KIP890-VERIFY-04"
SELECT = ("--select", f"{TRIED},{OTHER}")


def report_of(folder: Path) -> dict[str, Any]:
    """``report.json`` of a run."""
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


@pytest.mark.parametrize(
    ("outcomes", "exit_code"),
    [
        ({}, ExitCode.KEPT),
        ({TRIED: VIOLATED}, ExitCode.BROKEN),
        ({TRIED: NOT_EXERCISED}, ExitCode.BROKEN),
        ({TRIED: CRASHED}, ExitCode.BROKEN),
        ({TRIED: OUT_OF_REACH}, ExitCode.KEPT),
        ({TRIED: NOT_OFFERED}, ExitCode.KEPT),
        ({TRIED: NOT_OFFERED, OTHER: OUT_OF_REACH}, ExitCode.BROKEN),
        ({REST: OUT_OF_REACH}, ExitCode.BROKEN),
    ],
    ids=str,
)
def test_run_and_replay_end_in_the_same_way(tmp_path: Path, outcomes: Mapping[str, str], exit_code: ExitCode) -> None:
    folder = tmp_path / "run"
    ended = qualified(folder, *SELECT, outcomes=outcomes)
    assert ended.returncode == exit_code, ended.stdout + ended.stderr
    assert report_of(folder)["passes"] is (exit_code is ExitCode.KEPT)
    assert replayed(folder).returncode == exit_code
    assert report_of(folder)["passes"] is (exit_code is ExitCode.KEPT)


def test_a_run_in_which_nothing_could_be_tried_says_so(tmp_path: Path) -> None:
    printed = " ".join(qualified(tmp_path / "run", *SELECT, outcomes={REST: OUT_OF_REACH}).stdout.split())
    assert "No promise of external:127.0.0.1:9092 could be tried; 2 are out of reach." in printed
    assert "nothing could be tried, so nothing can be said of this target" in printed


def test_a_common_reason_is_told_once_and_a_skip_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    printed = qualified(folder, *SELECT, outcomes={REST: OUT_OF_REACH}).stdout
    told = printed.partition("Out of reach")[2]
    assert told.count(NO_LINKS) == 1
    assert f"2 requirements: {TRIED}, {OTHER}" in told
    junit = (folder / "junit.xml").read_text(encoding="utf-8")
    assert junit.count(f'<skipped type="pytest.skip" message="OUT_OF_REACH: {NO_LINKS}">') == 2
    results = [json.loads(file.read_text("utf-8")) for file in (folder / "allure-results").glob("*-result.json")]
    tags = {label["value"] for result in results for label in result["labels"] if label["name"] == "tag"}
    assert ({result["status"] for result in results}, "OUT_OF_REACH" in tags) == ({"skipped"}, True)


@pytest.mark.parametrize(("profile", "exit_code"), [("kip", ExitCode.KEPT), ("kafka", ExitCode.BROKEN)])
def test_a_habit_of_kafkas_fails_only_where_the_profile_asks_for_it(
    tmp_path: Path, profile: str, exit_code: ExitCode
) -> None:
    folder, id_ = tmp_path / "run", with_habit()
    words = ("--select", id_, "--profile", profile)
    ended = qualified(folder, *words, outcomes={id_: HABIT})
    assert ended.returncode == exit_code, ended.stdout
    broken = "breaks the one promise" in ended.stdout
    assert broken is (profile == "kafka")
    assert ("the one promise that was judged, otherwise than Kafka" in " ".join(ended.stdout.split())) is not broken
    report = report_of(folder)
    (verdict,) = report["verdicts"]
    assert (report["profile"], verdict["status"], verdict["level"]) == (profile, "VIOLATED", "SHOULD")
    assert {finding["level"] for finding in verdict["findings"]} == {"SHOULD"}
    junit = (folder / "junit.xml").read_text(encoding="utf-8")
    assert f'<property name="profile" value="{profile}"' in junit
    assert ("SHOULD: Differs from Kafka, keeps the KIP" in junit) is not broken
    assert ("<failure" in junit) is broken
    assert replayed(folder).returncode == exit_code


def test_the_profile_of_an_external_target_is_the_kips(tmp_path: Path) -> None:
    id_ = with_habit()
    assert qualified(tmp_path / "run", "--select", id_, outcomes={id_: HABIT}).returncode == ExitCode.KEPT
    ended = qualified(tmp_path / "other", "--select", id_, outcomes={id_: HABIT}, target="kafka:4.3.1")
    assert ended.returncode == ExitCode.BROKEN


def test_the_list_says_what_needs_permission(tmp_path: Path) -> None:
    rows = json.loads(fencepost("list", "--json", cwd=tmp_path).stdout)
    changing = [row["id"] for row in rows if "changes" in row["access"]]
    assert "KIP890-FEAT-07" in changing
    printed = fencepost("list", cwd=tmp_path).stdout
    assert f"{len(changing)} with access 'changes' need --allow-changes" in printed
    assert all("changes" in line for line in printed.splitlines() if line.split(" ")[0] in changing)
