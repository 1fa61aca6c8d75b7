"""Rounds of many sessions as one table: what is found, a round's row, how it is told; without Spark."""

import io
from pathlib import Path
from typing import Any

import pytest

from harness.app.cli import main
from harness.base.user_error import ExitCode
from harness.chaos.plan.round_folders import rounds_below
from harness.report.chaos.round_results import read_round
from harness.report.trends.publish_trends import print_trends, publish_trends
from harness.report.trends.trend_rows import UNKNOWN, trend_row
from harness.report.trends.trends_view import Trends, trends_view
from harness.spark.trends.trend_table import COLUMNS
from suites.selfcheck.fixtures import chaos_folders


@pytest.fixture
def night(tmp_path: Path) -> Path:
    """Two sessions, one of them deeper, beside a run of the contract."""
    home = tmp_path / "night"
    chaos_folders.broken(home / "3.5.2" / "001-late-produce")
    chaos_folders.unjudged(home / "3.5.2" / "002-relay")
    chaos_folders.clean(home / "new" / "4.3.1" / "001-crashes")
    (home / "contract").mkdir()
    (home / "contract" / "run.json").write_text('{"kind": "contract"}', encoding="utf-8")
    return home


def test_rounds_are_found_at_any_depth_and_nothing_else_is_one(night: Path) -> None:
    found = [str(each.relative_to(night)) for each in rounds_below(night)]
    assert found == ["3.5.2/001-late-produce", "3.5.2/002-relay", "new/4.3.1/001-crashes"]
    assert rounds_below(night / "contract") == ()


def test_every_round_has_every_column(night: Path) -> None:
    rows = [trend_row(read_round(each)) for each in rounds_below(night)]
    assert all(row.keys() == COLUMNS.keys() for row in rows)
    red, unjudged, _ = rows
    assert (red["release"], red["scenario"], red["day"]) == ("3.5.2", "late-produce", "2026-11-20")
    assert (red["conclusion"], red["session"], red["faults"], red["struck"]) == ("VIOLATED", "3.5.2", 5, 4)
    assert red["unavailable_ms"] == max(each["unavailable"]["most"] for each in interruptions(red))
    assert (unjudged["conclusion"], unjudged["committed"], unjudged["interruptions"]) == ("NOT_JUDGED", None, None)


def interruptions(row: Any) -> list[Any]:
    found = row["interruptions"]
    assert found
    return list(found)


def test_a_round_that_tells_nothing_of_itself_is_unknown(tmp_path: Path) -> None:
    folder = tmp_path / "round"
    folder.mkdir()
    (folder / "run.json").write_text('{"kind": "chaos", "format": 1}', encoding="utf-8")
    row = trend_row(read_round(folder))
    assert (row["release"], row["scenario"], row["day"], row["seed"]) == ("The target", "round", UNKNOWN, None)


def come_to(release: str, **found: Any) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys(
        f"{name}_ms{most}" for name in ("settled", "recovered", "unavailable") for most in ("", "_most")
    )
    row = {"release": release, "scenario": "kills", "rounds": 2, "red": 0, "unshown": 0, "committed": 900, "lag": 7}
    return {**empty, **row, "committed_a_second": 30.4, "anomalies": [], "days": 1, **found}


def shown() -> Trends:
    broken = come_to("3.5.2", red=1, anomalies=["stuck-lso"], recovered_ms=5.0, recovered_ms_most=1500.0)
    return trends_view([come_to("3.10.0"), broken, come_to("3.9.2", committed=None, committed_a_second=None)])


def test_releases_come_in_their_order_and_what_is_not_known_is_a_dash() -> None:
    trends = shown()
    assert [line.release for line in trends.lines] == ["3.5.2", "3.9.2", "3.10.0"]
    assert trends.headline == "6 rounds on 3 releases; 1 broke promises."
    first, second, _ = trends.lines
    assert (first.recovered, first.pace, second.pace, second.red) == (
        ("5 ms", "1.50 s".replace("0 ", " ")),
        "30",
        "–",
        "–",
    )


def test_the_terminal_and_the_page_have_a_line_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    trends, table, stream = shown(), tmp_path / "rounds.parquet", io.StringIO()
    page = publish_trends(trends, tmp_path, parquet=table, fencepost="0")
    print_trends(stream, trends, page=page, parquet=table)
    lines = stream.getvalue().splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["3.5.2", "3.9.2", "3.10.0"]
    assert all(len(line) <= 80 for line in lines[:4])
    assert "stuck-lso" in page.read_text(encoding="utf-8")
    assert str(table) in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["no-such"], ExitCode.EVIDENCE_UNREADABLE, "no-such is no folder"),
        (["night/contract"], ExitCode.EVIDENCE_UNREADABLE, "holds no round of chaos"),
        (["cut"], ExitCode.EVIDENCE_UNREADABLE, "cut/001 cannot be read"),
        (["night", "--into", "night/contract/run.json"], ExitCode.USAGE, "cannot be made"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    night: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: ExitCode,
    sentence: str,
) -> None:
    monkeypatch.chdir(night.parent)
    cut = chaos_folders.clean(night.parent / "cut" / "001")
    (cut / "judgement.json").write_text('{"checks": [', encoding="utf-8")
    assert main(["trends", *words]) == code
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert sentence in error
