"""Tables of JSON lines become typed Parquet as Spark would type them; no JVM but where the two are compared."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import functions as F

from harness.evidence.history.history_journal import TABLES
from harness.evidence.json_lines import torn_last_line, whole_bytes
from harness.spark.history import typed_tables
from harness.spark.history.table_schema import parts_of_value, sealed_schema
from harness.spark.history.typed_tables import write_table
from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.spark_session import open_session

READ = {"reader": "wire", "topic": "t", "partition": 0, "offset": 4, "value": "7/0/2/money:a/b:-5"}
VALUES = (
    "7/0/2/money:a/b:-5",
    "7/0/2/",
    "7/0/2/two\nlines/and a slash",
    "999999999999999999/0/2/é",
    "9999999999999999999/0/2/x",
    "+7/0/2/x",
    "7/0/2",
    "not ours",
    "",
)


def written(folder: Path, *lines: str, table: str = "reads") -> list[dict[str, object]]:
    """The rows that lines become."""
    path = folder / "history" / f"{table}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("\n".join(lines).encode())
    whole = whole_bytes(path, torn=torn_last_line(path) is not None)
    write_table(table, path, folder / "made", whole=whole)
    rows: list[dict[str, object]] = parquet.read_table(folder / "made").to_pylist()
    return rows


def test_absent_columns_are_null_or_their_default_and_a_value_is_taken_apart(tmp_path: Path) -> None:
    (row,) = written(tmp_path, json.dumps(READ))
    assert row == {
        **READ, "position": None, "at": None, "txn": 7, "ordinal": 0, "size": 2, "payload": "money:a/b:-5",
    }  # fmt: skip
    (operation,) = written(tmp_path, '{"number":1,"reason":null,"tries":null}', table="operations")
    assert (operation["reason"], operation["tries"], operation["txn"]) == ("", 1, None)


@pytest.mark.parametrize("lines", [(), ("", "  ", ""), ("", '{"reader": "wi'), ('{"reader": "wi',)])
def test_where_no_line_is_whole_there_are_no_rows(tmp_path: Path, lines: tuple[str, ...]) -> None:
    assert written(tmp_path, *lines) == []


@pytest.mark.parametrize("end", ["", "\n", '\n{"reader": "wi', '\n\n  \n{"reader": "wi  \n'])
def test_blank_lines_and_a_torn_last_one_are_passed_over(
    tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.evidence.json_lines.BLOCK_BYTES", 7)
    lines = [json.dumps({**READ, "offset": offset}) for offset in range(3)]
    assert [row["offset"] for row in written(tmp_path, "", *lines, end)] == [0, 1, 2]


def test_a_long_table_is_written_block_by_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_tables, "BLOCK_BYTES", 1_000)
    monkeypatch.setattr(typed_tables, "ROWS", 15)
    lines = [json.dumps({**READ, "offset": offset}) for offset in range(100)]
    assert [row["offset"] for row in written(tmp_path, *lines)] == [*range(100)]
    groups = parquet.ParquetFile(tmp_path / "made" / "part-0.parquet").metadata
    rows = [groups.row_group(number).num_rows for number in range(groups.num_row_groups)]
    assert len(rows) > 3
    assert all(15 <= each < 30 for each in rows[:-1])


@pytest.mark.parametrize("broken", ['{"colour": "red"}', '{"offset": "5"}', '{"reader": "x'])
def test_what_does_not_fit_is_refused(tmp_path: Path, broken: str) -> None:
    with pytest.raises(pa.ArrowException):
        written(tmp_path, json.dumps(READ), broken, json.dumps(READ))


def test_spark_types_and_takes_apart_alike(tmp_path: Path) -> None:
    rows = written(tmp_path, *(json.dumps({**READ, "value": value}) for value in VALUES))
    taken = [tuple(row[name] for name in ("value", "txn", "ordinal", "size", "payload")) for row in rows]
    for table in TABLES:
        written(tmp_path / table, table=table)
    with open_session(name="typed") as session:
        values = session.spark.range(1).select(F.explode(F.array(*map(F.lit, VALUES))).alias("value"))
        assert taken == [tuple(row) for row in collect_rows(values.select("value", *parts_of_value()))]
        for table in TABLES:
            read = session.spark.read.parquet(str(tmp_path / table / "made"))
            assert read.schema == sealed_schema(table), table
