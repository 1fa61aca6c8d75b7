"""``make flakes --into``: what several sessions judged adds up, as long as they ask the same."""

from pathlib import Path

import pytest

from suites.flakes.repeated_runs import RepeatedRun
from suites.flakes.run_table import AnotherQuestionError, Question, RunTable

ASKED = Question(target="kafka:4.3.1", words=["--backend", "process"], load=1)


def added(table: RunTable, status: str) -> Path:
    """A run with the table's next seed, in a folder of its own as ``judged_once`` leaves it."""
    seed = table.next_seed()
    place = table.room(seed)
    place.mkdir()
    table.add(RepeatedRun(seed=seed, exit_code=0, seconds=1.0, verdicts={"KIP890-BUMP-01": status}))
    return place


def test_sessions_add_up_and_seeds_go_on(tmp_path: Path) -> None:
    first = RunTable(tmp_path, ASKED)
    for _ in range(2):
        added(first, "HOLDS")
    second = RunTable(tmp_path, ASKED)
    assert second.runs == first.runs
    added(second, "HOLDS")
    assert [run.seed for run in second.runs] == [1, 2, 3]


def test_a_run_that_is_not_like_the_first_is_read_as_it_was(tmp_path: Path) -> None:
    table = RunTable(tmp_path, ASKED)
    for number, verdicts in enumerate(
        ({"A": "HOLDS", "B": "HOLDS"}, {"A": "HOLDS", "B": "VIOLATED: stuck-lso"}, {"A": "HOLDS"}),
        start=1,
    ):
        table.add(RepeatedRun(seed=number, exit_code=0, seconds=1.0, verdicts={**verdicts, "D": "HOLDS"}))
    assert RunTable(tmp_path, ASKED).runs == table.runs
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()[2]) < 100


def test_only_folders_of_unusual_runs_stay(tmp_path: Path) -> None:
    table = RunTable(tmp_path, ASKED)
    usual, odd, other = [added(table, status) for status in ("HOLDS", "UNDECIDED", "HOLDS")]
    table.forget_usual()
    assert [place.exists() for place in (usual, odd, other)] == [False, True, False]


def test_what_an_interrupted_run_left_is_removed(tmp_path: Path) -> None:
    table = RunTable(tmp_path, ASKED)
    (tmp_path / "1" / "run").mkdir(parents=True)
    assert not table.room(table.next_seed()).exists()


def test_runs_of_another_question_are_not_counted_together(tmp_path: Path) -> None:
    RunTable(tmp_path, ASKED)
    other = Question(target="kafka:3.9.2", words=ASKED.words, load=1)
    with pytest.raises(AnotherQuestionError, match=r"kafka:4\.3\.1.*kafka:3\.9\.2"):
        RunTable(tmp_path, other)
