"""Which files of a Spark sink count, by the sink's own log; plain files, no Spark."""

import json
from pathlib import Path

from harness.base.user_error import ExitCode
from harness.spark.readers.sink_files import committed_files
from suites.selfcheck.fixtures.user_errors import raises_user_error


def sink(place: Path, *logs: tuple[str, list[tuple[str, str]]]) -> Path:
    """A sink whose log has these lists of (file, action); every file that is named is there."""
    (place / "_spark_metadata").mkdir(parents=True)
    for name, listed in logs:
        lines = [json.dumps({"path": f"file:///elsewhere/{file}", "action": action}) for file, action in listed]
        (place / "_spark_metadata" / name).write_text("\n".join(["v1", *lines]))
        for file, _ in listed:
            (place / file).touch()
    return place


def test_files_that_no_batch_committed_do_not_count(tmp_path: Path) -> None:
    place = sink(tmp_path, ("0", [("a.parquet", "add")]), ("1", []), ("2", [("b.parquet", "add")]))
    (place / "of-a-killed-batch.parquet").touch()
    assert [path.name for path in committed_files(place)] == ["a.parquet", "b.parquet"]


def test_a_compacted_list_stands_for_all_before_it(tmp_path: Path) -> None:
    place = sink(
        tmp_path,
        ("8", [("old.parquet", "add")]),
        ("9.compact", [("a.parquet", "add"), ("b.parquet", "add")]),
        ("10", [("c.parquet", "add"), ("a.parquet", "delete")]),
    )
    assert [path.name for path in committed_files(place)] == ["b.parquet", "c.parquet"]


def test_a_folder_that_was_moved_is_read_where_it_is(tmp_path: Path) -> None:
    place = sink(tmp_path / "first", ("0", [("a.parquet", "add")]))
    moved = place.rename(tmp_path / "second")
    assert committed_files(moved) == [moved / "a.parquet"]


def test_a_committed_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    place = sink(tmp_path, ("0", [("a.parquet", "add")]))
    (place / "a.parquet").unlink()
    with raises_user_error(ExitCode.EVIDENCE_UNREADABLE, r"a\.parquet is gone"):
        committed_files(place)
