"""``fencepost trends`` from folders to Parquet that any Spark reads, and what it prints.

Starts a Spark session of its own; needs Java, and Maven once.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.app.cli import main
from harness.base.json_value import Json
from harness.base.user_error import ExitCode
from harness.report.chaos.round_results import read_round
from harness.report.trends.trend_rows import trend_row
from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.spark_session import open_session
from harness.spark.trends.trend_table import SCHEMA, come_to, write_table
from suites.selfcheck.fixtures import chaos_folders


def test_rounds_become_a_partitioned_table_and_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    chaos_folders.broken(tmp_path / "old" / "001")
    chaos_folders.clean(tmp_path / "new" / "001")
    into = tmp_path / "trends"
    assert main(["trends", str(tmp_path / "old"), str(tmp_path / "new"), "--into", str(into)]) == ExitCode.KEPT
    printed = capsys.readouterr().out
    assert "late-produce" in printed
    assert "2 rounds on 1 release; 1 broke promises." in printed
    assert (into / "index.html").is_file()
    parts = sorted(str(each.parent.relative_to(into)) for each in into.rglob("*.parquet") if each.is_file())
    table = "rounds.parquet/release=3.5.2/scenario="
    assert parts == [f"{table}late-produce/day=2026-11-20", f"{table}transfer-brokers-die/day=2026-11-20"]


def lines(path: Path, *rows: Mapping[str, Json]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_what_rounds_come_to_is_counted_and_a_second_table_takes_the_place_of_the_first(tmp_path: Path) -> None:
    red = trend_row(read_round(chaos_folders.broken(tmp_path / "001")))
    slow = {**red, "conclusion": "HOLDS", "anomalies": {}, "settled_ms": 9_000.0, "round": "002"}
    unjudged = trend_row(read_round(chaos_folders.unjudged(tmp_path / "003")))
    with open_session(name="trends") as session:
        write_table(session.spark, lines(tmp_path / "first", red, slow, slow, unjudged), tmp_path / "rounds.parquet")
        table = write_table(session.spark, lines(tmp_path / "second", red, slow, unjudged), tmp_path / "rounds.parquet")
        again = session.spark.read.schema(SCHEMA).parquet(str(tmp_path / "rounds.parquet"))
        assert sorted(row["round"] for row in collect_rows(again)) == ["001", "002", "003"]
        (kept,) = collect_rows(again.where("round = '001'"))
        first, second = sorted(come_to(table), key=lambda row: str(row["scenario"]))
    assert kept["interruptions"][0].unavailable.most > 0
    assert kept["anomalies"] == {"hanging-transaction": 1, "stuck-lso": 1}
    assert (first["rounds"], first["red"], first["unshown"]) == (2, 1, 0)
    assert (first["settled_ms"], first["settled_ms_most"]) == (9_000.0, 9_000.0)
    assert first["anomalies"] == ["hanging-transaction", "stuck-lso"]
    assert (second["scenario"], second["unshown"], second["committed"]) == ("relay-rebalances", 1, None)
