"""Lines of a table that have not its columns are named, by number and reason; sound ones of every table fit."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from harness.evidence.history.history_journal import TABLES
from harness.evidence.history.operation import LogRecord, Operation, Outcome, Read
from harness.evidence.json_codec import to_json
from harness.evidence.json_lines import BadLine, first_misfit
from suites.selfcheck.fixtures.histories.synthetic import drawn, write_folder

SOUND = to_json(Read(reader="wire", topic="t", partition=0, offset=7, value="v"))
Change = Callable[[dict[str, object]], dict[str, object]]
WRONG: dict[str, tuple[Change, str]] = {
    "a column more": (lambda row: {**row, "colour": "red"}, "colour"),
    "a column less": (lambda row: {name: row[name] for name in row if name != "offset"}, "offset"),
    "a text for a number": (lambda row: {**row, "offset": "7"}, "offset"),
    "a fraction for a number": (lambda row: {**row, "offset": 7.5}, "offset"),
    "a truth value for a number": (lambda row: {**row, "partition": True}, "partition"),
    "a number for a text": (lambda row: {**row, "value": 7}, "value"),
    "null where none may be": (lambda row: {**row, "value": None}, "value"),
    "a list": (lambda row: {**row, "topic": ["t"]}, "topic"),
    "more than 64 bits": (lambda row: {**row, "offset": 1 << 63}, "9223372036854775807"),
    "less than 64 bits": (lambda row: {**row, "position": -(1 << 63) - 1}, "-9223372036854775808"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_line_without_the_columns_of_its_table_is_named(case: str, tmp_path: Path) -> None:
    change, reason = WRONG[case]
    found = misfit(tmp_path, SOUND, json.dumps(change(json.loads(SOUND))), SOUND)
    assert found is not None
    assert found.number == 2
    assert reason in found.reason


@pytest.mark.parametrize("line", ["{", "7", "[]", SOUND + SOUND, "\udcff"])
def test_a_line_that_is_no_object_is_named(line: str, tmp_path: Path) -> None:
    found = misfit(tmp_path, SOUND, "", line, SOUND)
    assert found is not None
    assert found.number == 3


def test_a_torn_line_is_left_out_where_it_is_the_last(tmp_path: Path) -> None:
    assert misfit(tmp_path, SOUND, '{"rea', torn=True) is None
    assert misfit(tmp_path, SOUND, '{"rea') is not None
    found = misfit(tmp_path, '{"rea', SOUND, '{"rea', torn=True)
    assert found is not None
    assert found.number == 1


def test_what_an_operation_means_is_not_looked_at(tmp_path: Path) -> None:
    sound = to_json(
        Operation(
            number=1, actor="a", client="c", verb="begin", txn=1, size=1, started=1.0, ended=2.0, outcome=Outcome.DONE
        )
    )
    ends_before_it_starts = json.dumps({**json.loads(sound), "ended": 0.5})
    assert misfit(tmp_path, ends_before_it_starts, kind=Operation) is None


def test_numbers_of_64_bits_and_whole_numbers_for_times_fit(tmp_path: Path) -> None:
    row = {**json.loads(SOUND), "offset": (1 << 63) - 1, "at": 3, "position": -(1 << 63)}
    assert misfit(tmp_path, json.dumps(row), "", "  ", SOUND) is None


def test_every_table_of_a_history_fits(tmp_path: Path) -> None:
    history = write_folder(tmp_path / "run", [drawn("relay", 1, Random(1))]) / "history"
    files = {name: history / f"{name}.jsonl" for name in TABLES if (history / f"{name}.jsonl").is_file()}
    assert {"operations", "log", "reads", "readers", "partitions"} <= files.keys()
    assert {name: first_misfit(path, TABLES[name], torn=False) for name, path in files.items()} == dict.fromkeys(files)


def test_a_marker_and_a_record_fit_alike(tmp_path: Path) -> None:
    marker = LogRecord(
        topic="t", partition=0, offset=1, batch_offset=1, producer_id=1, epoch=0, sequence=-1, transactional=True,
        control="COMMIT", coordinator_epoch=3,
    )  # fmt: skip
    assert misfit(tmp_path, to_json(marker), kind=LogRecord) is None
    unknown = json.dumps({**json.loads(to_json(marker)), "control": "MAYBE"})
    assert misfit(tmp_path, unknown, kind=LogRecord) is not None


def misfit(folder: Path, *lines: str, kind: type = Read, torn: bool = False) -> BadLine | None:
    """The first line of a table that does not fit."""
    path = folder / "table.jsonl"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape") + b"\n")
    return first_misfit(path, kind, torn=torn)
