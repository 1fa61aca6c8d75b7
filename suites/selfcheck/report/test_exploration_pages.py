"""The table of an exploration, its page, and the comparison of two."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.report.model.coverage import AGREES, DIFFERS, EXPLAINED, NOT_REACHED, coverage
from harness.report.model.publish_coverage import ComparedSection, publish_comparison, publish_coverage
from harness.report.model.two_targets import two_targets, two_walks


def line(cell: int, outcome: str = AGREES, **more: Any) -> Mapping[str, Any]:
    """Of ``cells.jsonl``."""
    given = {"state": f"Empty {cell}", "request": "EndTxn v5, commit, own", "steps": 2, "why": "", "explained": None}
    return {"cell": cell, "outcome": outcome, "differences": [], "exchanges": [], **given, **more}


def differs(cell: int, seen: str, **more: Any) -> Mapping[str, Any]:
    """A cell whose answer the model did not expect."""
    return line(cell, DIFFERS, differences=[{"part": "answer", "expected": "NONE", "seen": seen}], **more)


def test_a_difference_shows_before_what_was_not_reached_and_that_before_agreement() -> None:
    here = {"state": "Empty"}
    agrees, lost, wrong = line(1, **here), line(2, NOT_REACHED, **here), differs(3, "PRODUCER_FENCED", **here)
    assert coverage([agrees, lost, wrong]).rows[0].cells[0].worst == DIFFERS
    assert coverage([agrees, lost]).rows[0].cells[0].worst == NOT_REACHED
    assert coverage([agrees]).rows[0].cells[0].words == "1 agrees"


def test_what_is_explained_is_counted_apart_and_told() -> None:
    shown = coverage([line(1), differs(2, "PRODUCER_FENCED", explained="KAFKA-1")])
    assert shown.counts == {AGREES: 1, EXPLAINED: 1}
    assert [each["cell"] for each in shown.told] == [2]


def test_rows_are_by_the_length_of_their_paths_and_requests_in_columns_by_version() -> None:
    shown = coverage([line(1, state="far", steps=4), line(2, state="Empty", request="Produce v12, A, own", steps=1)])
    assert [row.state for row in shown.rows] == ["Empty", "far"]
    assert shown.kinds == ("EndTxn v5", "Produce v12")
    assert shown.rows[1].cells[1].worst == "not asked"


def test_version_9_stands_before_version_10() -> None:
    shown = coverage([line(1, request="Produce v10, A, own"), line(2, request="Produce v9, A, own")])
    assert shown.kinds == ("Produce v9", "Produce v10")


def test_the_page_tells_the_difference_with_its_path(tmp_path: Path) -> None:
    exchanges = [{"asked": "InitProducerId <v4>", "answered": "NONE"}]
    lines = [line(1), differs(2, "<PRODUCER_FENCED>", exchanges=exchanges)]
    (tmp_path / "cells.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    page = publish_coverage(tmp_path, target="kafka:4.3.1", fencepost="1").read_text(encoding="utf-8")
    assert "2 cells on kafka:4.3.1" in page
    assert "&lt;PRODUCER_FENCED&gt;" in page
    assert "InitProducerId &lt;v4&gt;" in page


def test_two_targets_that_agree_with_the_model_are_alike_and_others_are_told_shortest_first() -> None:
    first = [line(1), differs(2, "A", steps=5), differs(3, "B", steps=3), line(4, NOT_REACHED), differs(5, "C")]
    second = [line(1), line(2, steps=5), differs(3, "X", steps=3), line(4), differs(5, "C")]
    found = two_targets(first, second)
    assert (found.compared, found.reached_by_one) == (4, 1)
    assert [(each.cell, each.parts) for each in found.differences] == [
        (3, (("answer", "B", "X"),)),
        (2, (("answer", "A", "NONE"),)),
    ]


def test_a_cell_that_only_one_was_asked_is_not_compared() -> None:
    assert two_targets([line(1)], [line(2)]).compared == 0


def test_walks_are_compared_by_their_numbers_and_told_by_how_far_they_came(tmp_path: Path) -> None:
    ways = [[{"asked": f"EndTxn <{step}>", "answered": "NONE"} for step in range(count)] for count in (5, 2)]
    first = [line(1), line(2), line(3), differs(4, "A")]
    second = [differs(1, "A", exchanges=ways[0]), differs(2, "B", exchanges=ways[1]), line(3), line(4, NOT_REACHED)]
    found = two_walks(first, second)
    assert (found.compared, found.reached_by_one) == (3, 1)
    assert [(each.cell, each.steps) for each in found.differences] == [(2, 2), (1, 5)]
    section = ComparedSection(title="Walks", what="walks", found=found)
    page = publish_comparison([section], tmp_path, names=("one", "two"), fencepost="1").read_text(encoding="utf-8")
    assert "walk 2, after 2 steps" in page
    assert "EndTxn &lt;4&gt;" in page
