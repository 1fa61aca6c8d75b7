"""What the terminal and Allure show of chaos: a line a round, the headline at the end; plain without a terminal."""

import io
import json
from pathlib import Path

import pytest

from harness.report.chaos import conclude_session, not_offered_line, publish_session, round_line
from suites.selfcheck.fixtures import chaos_folders

ITEM = """
import json
from pathlib import Path
from harness.evidence.json_codec import from_json
from harness.evidence.history.judgement import Judgement
from harness.report.shared import allure

def test_round():
    folder = Path(__file__).parent / "round"
    judgement = from_json(Judgement, (folder / "judgement.json").read_text(encoding="utf-8"))
    allure.label_round(judgement, json.loads((folder / "run.json").read_text(encoding="utf-8")))
"""


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    home = tmp_path_factory.mktemp("chaos")
    return [chaos_folders.broken(home / "001"), chaos_folders.clean(home / "002"), chaos_folders.unjudged(home / "003")]


def test_a_round_is_one_plain_line(rounds: list[Path]) -> None:
    stream = io.StringIO()
    for number, folder in enumerate(rounds, start=1):
        round_line(stream, folder, number=number, of=12)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("[ 1/12] late-produce              seed 8128        VIOLATED          38.4 s  hanging")
    assert "HOLDS" in lines[1]
    assert "NOT_JUDGED" in lines[2]
    assert "\x1b" not in stream.getvalue()


def test_the_end_prints_the_headline_the_findings_and_how_to_go_on(rounds: list[Path], tmp_path: Path) -> None:
    stream = io.StringIO()
    passes = conclude_session(stream, tmp_path, rounds, publish_session(tmp_path, rounds))
    printed, plain = stream.getvalue(), " ".join(stream.getvalue().split())
    assert passes is False
    assert "Kafka 3.5.2 leaves transactions hanging and leaves the last stable offset stuck; 1 of 3 rounds" in plain
    assert "It does not pass: 1 violated, 1 not judged, 1 holds" in plain
    assert "4 of 5 faults struck. Faults that did not strike: drop-response" in plain
    assert "stuck-lso: fp-77-accounts-1: last stable offset" in plain
    assert f"again {chaos_folders.RUN['command']}" in plain
    assert f"report  {tmp_path}/index.html\n" in printed
    assert f"replay  fencepost replay {tmp_path}\n" in printed


def test_the_end_fits_eighty_columns_without_colour(rounds: list[Path], tmp_path: Path) -> None:
    stream = io.StringIO()
    conclude_session(stream, tmp_path, rounds, None)
    commands = ("report", "replay", "  again")
    assert "\x1b" not in stream.getvalue()
    assert [line for line in stream.getvalue().splitlines() if len(line) > 80 and not line.startswith(commands)] == []


def test_a_session_in_which_every_round_holds_passes(tmp_path: Path) -> None:
    stream = io.StringIO()
    assert conclude_session(stream, tmp_path, [chaos_folders.clean(tmp_path / "001")], None) is True
    assert "Kafka 4.3.1 keeps its transaction promises; 1 round of chaos tried them." in " ".join(
        stream.getvalue().split()
    )


def test_a_round_out_of_reach_is_counted_and_no_failure_beside_one_that_holds(tmp_path: Path) -> None:
    beyond, stream = chaos_folders.beyond(tmp_path / "002"), io.StringIO()
    assert conclude_session(stream, tmp_path, [chaos_folders.clean(tmp_path / "001"), beyond], None) is True
    plain = " ".join(stream.getvalue().split())
    assert "keeps its transaction promises; 1 round of chaos tried them. It passes: 1 out of reach, 1 holds" in plain
    assert conclude_session(io.StringIO(), tmp_path, [beyond], None) is False
    line = io.StringIO()
    round_line(line, beyond, number=2, of=2)
    assert "OUT_OF_REACH" in line.getvalue()
    assert "kill, pause" in line.getvalue()


def test_allure_gets_scenario_workload_and_anomalies_of_a_round(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ITEM)
    chaos_folders.broken(pytester.path / "round", hostile=True)
    options = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:fencepost", "--alluredir=results")
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=1)
    (path,) = pytester.path.glob("results/*-result.json")
    result = json.loads(path.read_text(encoding="utf-8"))
    labels = {(label["name"], label["value"]) for label in result["labels"]}
    assert {("epic", "chaos"), ("feature", "late-produce"), ("tag", "VIOLATED"), ("tag", "stuck-lso")} <= labels
    assert result["name"] == "late-produce, seed 8128"
    assert result["attachments"][0]["name"] == "judgement late-produce 8128"


def test_a_round_that_is_not_offered_is_a_line_with_the_reason() -> None:
    stream = io.StringIO()
    not_offered_line(stream, "late-produce-v2", "wire-v2: no Produce v12", number=3, of=12)
    assert stream.getvalue() == "[ 3/12] late-produce-v2           not offered: wire-v2: no Produce v12\n"
