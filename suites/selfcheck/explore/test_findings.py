"""Results are counted, each difference of a path is told once, and explanations go stale."""

from pathlib import Path

import pytest

from harness.base.user_error import UserError
from harness.explore import findings
from harness.explore.cell_results import CellOutcome, CellResult, Difference
from harness.explore.explained import read_explanations
from harness.explore.findings import CellProgress, Findings, FreshResult, summary
from harness.model.model_requests import InitProducerIdAsked
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL

INIT = InitProducerIdAsked(id="own", version=4)
WRONG = Difference(part="answer", expected="NONE", seen="PRODUCER_FENCED")
EXPLAINED = """
[[explained]]
profile = {level = 2}
request = "^EndTxn v5"
part = "answer"
seen = "FENCED"
reason = "It is so."
source = "TransactionCoordinator.endTransaction"
"""


def result(cell: int, *differences: Difference, request: str = "EndTxn v5, commit, own") -> CellResult:
    outcome = CellOutcome.DIFFERS if differences else CellOutcome.AGREES
    return CellResult(cell=cell, state="Empty", request=request, outcome=outcome, steps=2, differences=differences)


@pytest.fixture
def explained(tmp_path: Path) -> Path:
    path = tmp_path / "explained.toml"
    path.write_text(EXPLAINED)
    return path


def test_only_the_first_cell_of_a_strayed_path_differs(tmp_path: Path) -> None:
    found = Findings(folder=tmp_path)
    found.add([FreshResult(result(4, WRONG), strayed=(INIT,)), FreshResult(result(5, WRONG), strayed=(INIT,))])
    found.add([FreshResult(result(6, WRONG), strayed=(INIT, INIT)), FreshResult(result(7))])
    assert found.counts == {CellOutcome.DIFFERS: 2, CellOutcome.NOT_REACHED: 1, CellOutcome.AGREES: 1}
    assert [each.cell for each in found.unexplained()] == [4, 6]
    lines = (tmp_path / "cells.jsonl").read_text().splitlines()
    assert len(lines) == 4
    assert "as in cell 4" in lines[1]


def test_progress_is_told_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[str]()
    found = Findings(folder=tmp_path, progress=CellProgress(total=3, tell=told.append))
    found.add([FreshResult(result(4))])
    assert told == [], "not at once"
    monkeypatch.setattr(findings, "TOLD_SECONDS", 0.0)
    found.add([FreshResult(result(5, WRONG))])
    assert [line.rpartition(",")[0] for line in told] == ["2 of 3 cells, 1 differ without an explanation"]


def test_an_explanation_explains_what_it_names_and_nothing_else(tmp_path: Path, explained: Path) -> None:
    found = Findings(folder=tmp_path, explanations=read_explanations(explained, NEWEST))
    assert [each.reason for each in found.stale()] == ["It is so."]
    other = Difference(part="log of A", expected="", seen="FENCED")
    found.add(map(FreshResult, [result(1, WRONG), result(2, WRONG, other), result(3, WRONG, request="EndTxn v4")]))
    assert [each.cell for each in found.unexplained()] == [2, 3]
    assert found.stale() == []


def test_explanations_hold_for_a_profile(explained: Path, tmp_path: Path) -> None:
    assert read_explanations(explained, OLD_PROTOCOL) == []
    assert read_explanations(tmp_path / "none.toml", NEWEST) == []


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("[[explained", "cannot be understood"),
        (EXPLAINED.replace("level", "age"), "a profile has no age"),
        (EXPLAINED.replace("FENCED", "("), "cannot be understood"),
        (EXPLAINED.replace("reason", "cause"), "reason"),
    ],
)
def test_explanations_that_cannot_be_understood_are_one_sentence(explained: Path, wrong: str, told: str) -> None:
    explained.write_text(wrong)
    with pytest.raises(UserError, match=told):
        read_explanations(explained, NEWEST)


def test_the_summary_tells_counts_and_the_shortest_of_each_kind(tmp_path: Path) -> None:
    found = Findings(folder=tmp_path)
    found.add(map(FreshResult, [result(9, WRONG), result(2, WRONG), result(1)]))
    lines = list(summary(found, 5, 2.0, {"NOT_COORDINATOR": 3}, 1))
    assert lines[0].startswith("3 of 5 cells in 2 s (2 a second): 1 agree, 2 differ, of which 0 are explained")
    assert "asked again 3 times after NOT_COORDINATOR" in lines
    assert "cell 2: EndTxn v5, commit, own, in «Empty» (2 cells alike)" in lines
    assert "  answer: the model says NONE; seen is PRODUCER_FENCED" in lines
    assert not any(line.startswith("cell 9") for line in lines)
