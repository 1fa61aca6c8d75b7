"""Known failures as the caller's own file: read, written from a run, renewed; stale entries fail. No broker starts."""

from pathlib import Path

import pytest

from harness.base.user_error import ExitCode
from harness.contract.catalogue.known_failures import read_known
from suites.selfcheck.fixtures.controlled_run import (
    HABIT,
    NOT_EXERCISED,
    NOT_OFFERED,
    OUT_OF_REACH,
    VIOLATED,
    qualified,
    replayed,
    with_habit,
)

BROKEN, OTHER, THIRD = "KIP890-VERIFY-03", "KIP890-VERIFY-04", "KIP890-VERIFY-05"
SELECT = ("--select", f"{BROKEN},{OTHER},{THIRD}")
LINE = f"{BROKEN} | late writes get in | https://example.org/1"


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """A list with a comment and one entry."""
    path = tmp_path / "known.txt"
    path.write_text(f"# ours\n{LINE}\n", encoding="utf-8")
    return path


def test_what_is_known_to_fail_does_not_fail_the_run(tmp_path: Path, known: Path) -> None:
    words = (*SELECT, "--known-failing", str(known))
    ended = qualified(tmp_path / "run", *words, outcomes={BROKEN: VIOLATED})
    assert ended.returncode == ExitCode.KEPT, ended.stdout
    assert "known failure: late writes get in (https://example.org/1)" in ended.stdout
    assert replayed(tmp_path / "run").returncode == ExitCode.KEPT
    (tmp_path / "run" / "verdicts.jsonl").unlink()  # as if it had been killed before they were given
    assert replayed(tmp_path / "run").returncode == ExitCode.KEPT


@pytest.mark.parametrize("outcome", ["holds", NOT_OFFERED])
def test_an_entry_that_no_longer_fails_fails_the_run(tmp_path: Path, known: Path, outcome: str) -> None:
    ended = qualified(tmp_path / "run", *SELECT, "--known-failing", str(known), outcomes={BROKEN: outcome})
    assert ended.returncode == ExitCode.BROKEN
    assert "1 known failure no longer fails" in " ".join(ended.stdout.split())
    assert replayed(tmp_path / "run").returncode == ExitCode.BROKEN


@pytest.mark.parametrize(("outcome", "code"), [(OUT_OF_REACH, ExitCode.KEPT), (NOT_EXERCISED, ExitCode.BROKEN)])
def test_an_entry_that_was_not_seen_is_not_stale(tmp_path: Path, known: Path, outcome: str, code: ExitCode) -> None:
    ended = qualified(tmp_path / "run", *SELECT, "--known-failing", str(known), outcomes={BROKEN: outcome})
    assert ended.returncode == code
    assert "no longer fail" not in ended.stdout


def test_an_entry_of_what_is_not_selected_is_not_stale(tmp_path: Path, known: Path) -> None:
    words = ("--select", OTHER, "--known-failing", str(known))
    assert qualified(tmp_path / "run", *words, outcomes={}).returncode == ExitCode.KEPT


@pytest.mark.parametrize("group", ["BUMP", "KIP360-INIT-04"])
def test_our_own_list_of_a_release_goes_with_a_selection(tmp_path: Path, group: str) -> None:
    outcomes = {"KIP360-INIT-04": VIOLATED}
    ended = qualified(tmp_path / "run", "--select", group, outcomes=outcomes, target="kafka:4.0.0")
    assert ended.returncode == ExitCode.KEPT, ended.stdout + ended.stderr


def test_the_callers_list_replaces_our_own(tmp_path: Path, known: Path) -> None:
    words = ("--select", "KIP360-INIT-04", "--known-failing", str(known))
    outcomes = {"KIP360-INIT-04": VIOLATED}
    assert qualified(tmp_path / "run", *words, outcomes=outcomes, target="kafka:4.0.0").returncode == ExitCode.BROKEN


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("KIP890-NO-99 | why | link\n", "known failures name no requirement: KIP890-NO-99"),
        (f"{BROKEN} | why\n", "line 1: write id | reason | link"),
        (f"{LINE}\n{LINE}\n", f"line 2: {BROKEN} stands there twice"),
        (None, "known failures cannot be read"),
    ],
)
def test_a_list_that_cannot_be_used_is_one_sentence(tmp_path: Path, text: str | None, sentence: str) -> None:
    path = tmp_path / "list.txt"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    ended = qualified(tmp_path / "run", *SELECT, "--known-failing", str(path), outcomes={})
    assert ended.returncode == ExitCode.USAGE
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr


def test_a_run_writes_the_list_that_the_next_one_passes_with(tmp_path: Path) -> None:
    path, outcomes = tmp_path / "known.txt", {BROKEN: VIOLATED, OTHER: OUT_OF_REACH}
    first = qualified(tmp_path / "one", *SELECT, "--write-known-failing", str(path), outcomes=outcomes)
    assert first.returncode == ExitCode.BROKEN
    entry = read_known(path).entries[BROKEN]
    assert list(read_known(path).entries) == [BROKEN]
    assert ": " in entry.reason
    assert entry.link == "no link yet"
    head = path.read_text(encoding="utf-8").splitlines()[:3]
    assert head[0].startswith("# external:127.0.0.1:9092: what a run on 20")
    assert "3 of 3 requirements judged" in head[0]
    assert "fencepost qualify external:127.0.0.1:9092" in head[1]
    second = qualified(tmp_path / "two", *SELECT, "--known-failing", str(path), outcomes=outcomes)
    assert second.returncode == ExitCode.KEPT, second.stdout


def test_a_file_that_is_there_is_not_written_over_unless_it_is_read_too(tmp_path: Path, known: Path) -> None:
    before = known.read_text(encoding="utf-8")
    ended = qualified(tmp_path / "run", *SELECT, "--write-known-failing", str(known), outcomes={OTHER: VIOLATED})
    assert ended.returncode == ExitCode.USAGE
    assert "name it as --known-failing too" in ended.stderr
    assert known.read_text(encoding="utf-8") == before
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_folder_that_is_not_there_is_told_before_the_run(tmp_path: Path) -> None:
    words = (*SELECT, "--write-known-failing", str(tmp_path / "no" / "known.txt"))
    ended = qualified(tmp_path / "run", *words, outcomes={})
    assert ended.returncode == ExitCode.USAGE
    assert "is no folder that we may write to" in ended.stderr


def test_a_list_read_and_written_keeps_what_is_still_true(tmp_path: Path, known: Path) -> None:
    gone, unselected = f"{OTHER} | it was so | link", "KIP890-SAFE-04 | not asked today | link"
    known.write_text(f"# ours\n{LINE}\n{gone}\n\n{unselected}\n", encoding="utf-8")
    words = (*SELECT, "--known-failing", str(known), "--write-known-failing", str(known))
    outcomes = {BROKEN: VIOLATED, THIRD: VIOLATED}
    assert qualified(tmp_path / "run", *words, outcomes=outcomes).returncode == ExitCode.BROKEN
    lines = known.read_text(encoding="utf-8").splitlines()
    assert lines[:4] == ["# ours", LINE, "", unselected]
    assert all(line.startswith("# ") for line in lines[4:7])
    assert lines[7].startswith(f"{THIRD} | ")
    assert len(lines) == 8
    assert qualified(tmp_path / "again", *words, outcomes=outcomes).returncode == ExitCode.KEPT
    assert known.read_text(encoding="utf-8").splitlines() == lines


def test_a_new_list_keeps_what_is_still_true_of_the_one_that_was_read(tmp_path: Path, known: Path) -> None:
    path = tmp_path / "new.txt"
    words = (*SELECT, "--known-failing", str(known), "--write-known-failing", str(path))
    assert qualified(tmp_path / "run", *words, outcomes={BROKEN: VIOLATED}).returncode == ExitCode.KEPT
    assert path.read_text(encoding="utf-8") == known.read_text(encoding="utf-8")
    ours = tmp_path / "ours.txt"
    select = ("--select", "KIP360-INIT-04", "--write-known-failing", str(ours))
    qualified(tmp_path / "release", *select, outcomes={"KIP360-INIT-04": VIOLATED}, target="kafka:4.0.0")
    assert "KAFKA-19367" in read_known(ours).entries["KIP360-INIT-04"].link


def test_both_options_may_name_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    words = (*SELECT, "--known-failing", str(path), "--write-known-failing", str(path))
    assert qualified(tmp_path / "one", *words, outcomes={BROKEN: VIOLATED}).returncode == ExitCode.BROKEN
    assert qualified(tmp_path / "two", *words, outcomes={BROKEN: VIOLATED}).returncode == ExitCode.KEPT


def test_what_the_profile_does_not_ask_for_is_not_written(tmp_path: Path) -> None:
    path, id_ = tmp_path / "known.txt", with_habit()
    words = ("--select", id_, "--write-known-failing", str(path))
    assert qualified(tmp_path / "run", *words, outcomes={id_: HABIT}).returncode == ExitCode.KEPT
    assert read_known(path).entries == {}
