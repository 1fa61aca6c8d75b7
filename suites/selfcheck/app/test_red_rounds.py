"""``fencepost shrink`` before it starts anything: which round, and one sentence for what cannot be shrunk."""

from pathlib import Path

import pytest

from harness.app.chaos.red_round import find_red_round, options_of_round
from harness.app.chaos.shrink_words import sizes, smaller_words, what_is_left
from harness.app.cli import main
from harness.base.user_error import ExitCode
from harness.chaos.plan.plan_file import write_plan
from harness.chaos.shrink.smaller_plans import brought_forward, one_transaction_each, with_roles
from harness.report.chaos.round_results import read_round
from suites.selfcheck.chaos.test_plans import drawn
from suites.selfcheck.fixtures import chaos_folders
from suites.selfcheck.fixtures.user_errors import raises_user_error

PLAN = drawn("late-produce")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A red round, a green one, one that was not judged, and another red one without a plan."""
    for folder in (chaos_folders.broken(tmp_path / "001-late-produce"), chaos_folders.clean(tmp_path / "002-transfer")):
        write_plan(folder / "plan.toml", PLAN)
        (folder / "history").mkdir(exist_ok=True)
    chaos_folders.unjudged(tmp_path / "003-relay")
    chaos_folders.broken(tmp_path / "004-late-produce")
    return tmp_path


@pytest.mark.parametrize("name", ["1", "001", "001-late-produce"])
def test_a_round_of_a_session_is_named_by_its_number_or_its_name(session: Path, name: str) -> None:
    red = find_red_round(session, name, None)
    assert (red.results.folder.name, red.anomaly, red.plan) == ("001-late-produce", "hanging-transaction", PLAN)
    assert red.finding.anomaly == "hanging-transaction"
    assert find_red_round(session, name, "stuck-lso").finding.anomaly == "stuck-lso"


def test_a_single_red_round_needs_no_name_and_its_own_folder_will_do(session: Path) -> None:
    for file in sorted((session / "004-late-produce").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    assert find_red_round(session, None, None).results.folder.name == "001-late-produce"
    assert find_red_round(session / "001-late-produce", None, None).plan == PLAN


@pytest.mark.parametrize(
    ("name", "anomaly", "sentence"),
    [
        (None, None, "2 rounds of .* are VIOLATED: name one behind it: 001-late-produce, 004-late-produce"),
        ("9", None, "has no round 9; there are 001-late-produce, 002-transfer"),
        ("2", None, "002-transfer is HOLDS: only a round that is VIOLATED can be shrunk"),
        ("3", None, "has no round 3"),
        ("1", "lost-commit", "does not show lost-commit; it shows hanging-transaction, stuck-lso"),
        ("4", None, "has no plan.toml: play the round again with this Fencepost, and shrink that"),
    ],
)
def test_what_cannot_be_shrunk_is_a_wrong_use(
    session: Path, name: str | None, anomaly: str | None, sentence: str
) -> None:
    with raises_user_error(ExitCode.USAGE, sentence):
        find_red_round(session, name, anomaly)


def test_a_session_without_a_red_round_has_nothing_to_shrink(tmp_path: Path) -> None:
    for name in ("001", "002"):
        (chaos_folders.clean(tmp_path / name) / "history").mkdir()
    with raises_user_error(ExitCode.USAGE, "no round of .* is VIOLATED"):
        find_red_round(tmp_path, None, None)


def test_a_folder_without_chaos_is_no_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shrink", str(tmp_path), "--report-dir", str(tmp_path / "run")]) == ExitCode.EVIDENCE_UNREADABLE
    sentence = "holds no round of chaos: name the folder that fencepost chaos told at its end"
    assert capsys.readouterr().err == f"fencepost: {tmp_path} {sentence}\n"


def test_a_round_is_tried_as_its_own_command_says(session: Path) -> None:
    given = options_of_round(read_round(session / "001-late-produce"))
    assert (given.target, given.scenarios) == ("kafka:3.5.2", "late-produce")


@pytest.mark.parametrize("command", ["", "other tool", "fencepost chaos kafka:3.5.2 --no-such-option"])
def test_a_command_that_is_not_understood_is_one_sentence(command: str, tmp_path: Path) -> None:
    folder = chaos_folders.broken(tmp_path / "round")
    text = (folder / "run.json").read_text(encoding="utf-8")
    old = str(chaos_folders.RUN["command"])
    assert old in text
    (folder / "run.json").write_text(text.replace(old, command), encoding="utf-8")
    with raises_user_error(ExitCode.EVIDENCE_UNREADABLE, "the round's command cannot be used again"):
        options_of_round(read_round(folder))


def test_a_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["shrink", "--help"])
    told = capsys.readouterr().out
    assert "--budget" in told
    assert "smallest.toml" in told


def test_what_is_left_is_told_in_words(session: Path) -> None:
    small = brought_forward(one_transaction_each(with_roles(PLAN, ["writer-2"])))
    assert smaller_words(PLAN, small).startswith("1 of 4 roles, ")
    assert smaller_words(PLAN, small).endswith("at most 1 transaction each")
    assert list(sizes(PLAN, small))[2] == "  transactions  as many as there is time for → 1"
    red = find_red_round(session, "1", None)
    told = what_is_left(small, red.finding, red.results.faults)
    assert told.startswith("writer-2 (wire-v2) makes 1 transaction from 1.2 s on. late-produce is on from 1 s on for ")
    assert "The judge finds hanging-transaction: " in told
