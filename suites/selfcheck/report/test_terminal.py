"""The terminal's end and progress: the headline, what did not hold, where to look; plain where there is no terminal."""

import io
from dataclasses import replace
from pathlib import Path

import pytest

from harness.contract.level import Profile
from harness.contract.verdict import Verdict
from harness.evidence.run_folder import RunFolder
from harness.report.contract.terminal import ProgressLines, conclude
from harness.report.shared.words import DIFFERS, ORDER, title
from suites.selfcheck.fixtures import contract_folder


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def concluded(folder: RunFolder, verdicts: tuple[Verdict, ...]) -> str:
    """What a run prints at its end."""
    stream = io.StringIO()
    conclude(stream, folder, contract_folder.rows(), verdicts, folder.path / "index.html")
    return stream.getvalue()


def test_the_end_prints_the_headline_the_findings_and_how_to_go_on(tmp_path: Path) -> None:
    printed = concluded(contract_folder.make(tmp_path / "run"), contract_folder.verdicts())
    plain = " ".join(printed.split())
    assert "Kafka 3.5.2 breaks 5 of 35 promises" in plain
    assert "late-produce-accepted: late: Produce v9 answered NONE (0)" in plain
    assert "it crashed: KeyError: 'base_offset'" in plain
    assert "Known failures that no longer fail KIP360-INIT-02" in plain
    assert f"report  {tmp_path}/run/index.html\n" in printed
    assert f"replay  fencepost replay {tmp_path}/run\n" in printed


def test_the_end_fits_eighty_columns_without_colour(tmp_path: Path) -> None:
    printed = concluded(contract_folder.make(tmp_path / "run"), contract_folder.verdicts())
    assert "\x1b" not in printed
    wide = [line for line in printed.splitlines() if len(line) > 80 and not line.startswith(("report", "replay"))]
    assert wide == []


def test_an_interrupted_run_reports_what_was_not_judged(tmp_path: Path) -> None:
    printed = concluded(contract_folder.make(tmp_path / "run"), contract_folder.verdicts()[:2])
    assert "33 are not judged" in " ".join(printed.split())


def test_equal_reasons_are_told_once_with_their_requirements(tmp_path: Path) -> None:
    printed = concluded(contract_folder.make(tmp_path / "run"), contract_folder.verdicts())
    plain = " ".join(printed.split())
    assert f"{contract_folder.NO_LINKS}: 2 requirements: KIP890-VERIFY-11, KIP890-VERIFY-12" in plain
    assert "it crashed: KeyError: 'base_offset': 2 requirements: KIP890-VERIFY-02, KIP890-SAFE-01" in plain
    assert "needs EndTxn v5; the target offers v0–v3: 10 requirements: KIP890-BUMP-01," in plain
    assert plain.count(contract_folder.NO_LINKS) == 1
    assert plain.count("late-produce-accepted:") == 3  # what is broken is told one by one


def test_levels_are_told_and_what_could_not_be_examined_beside_a_finding(tmp_path: Path) -> None:
    printed = concluded(contract_folder.make(tmp_path / "run", Profile.KIP), contract_folder.verdicts())
    headings = [line for line in printed.splitlines() if line in map(title, (*ORDER, DIFFERS))]
    assert headings == [
        *("Violated", "Differs from Kafka, keeps the KIP", "Undecided", "Not exercised", "Out of reach"),
        "Not offered",
    ]
    differs, unexercised = printed.partition("Differs from")[2].split("Undecided\n")
    assert "SHOULD wrong-message: another text" in differs
    assert "KIP890-SAFE-02" not in differs
    assert "not examined further: the end was refused" in unexercised
    assert "breaks 1 of 35 promises (all known) and keeps 16, 3 of them otherwise" in " ".join(printed.split())


def test_an_anomaly_is_told_once_a_requirement_with_how_often_it_was_found(tmp_path: Path) -> None:
    broken = next(one for one in contract_folder.verdicts() if one.id == contract_folder.LATE)
    thrice = replace(broken, findings=broken.findings * 3)
    plain = " ".join(concluded(contract_folder.make(tmp_path / "run"), (thrice,)).split())
    assert plain.count("late-produce-accepted") == 1
    assert "late-produce-accepted (3 times): late: Produce v9 answered NONE (0)" in plain


def test_progress_shows_what_only_differs_from_kafka_as_such() -> None:
    stream = io.StringIO()
    progress = ProgressLines(stream, total=35, profile=Profile.KIP)
    row = contract_folder.rows()[6]
    progress.judged(row, contract_folder.verdicts()[6])
    assert " DIFFERS  " in stream.getvalue()
    assert "differs from Kafka, keeps" in stream.getvalue()


def test_progress_is_one_plain_line_a_verdict() -> None:
    stream = io.StringIO()
    progress = ProgressLines(stream, total=len(contract_folder.rows()))
    for row, verdict in zip(contract_folder.rows(), contract_folder.verdicts(), strict=True):
        progress.judged(row, verdict)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 35
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in stream.getvalue()
    assert lines[10] == "[11/35] KIP890-VERIFY-09    VIOLATED        1.61 s  SHOULD: late-produce-accep…"
