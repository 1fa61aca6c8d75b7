"""A history is read into Spark completely, or refused in one sentence that names the file and line."""

import json
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from harness.base.user_error import ExitCode, UserError
from harness.evidence.history.history_journal import TABLES
from harness.evidence.history.operation import Operation, Outcome
from harness.evidence.json_codec import to_json
from harness.spark.history import seal as seal_module
from harness.spark.history import typed_tables
from harness.spark.history.history_frames import History, open_history
from harness.spark.history.seal import Sealing, read_sealed, seal
from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.spark_session import SparkHandle, open_session
from suites.selfcheck.fixtures.histories.synthetic import Synthetic, drawn, write_folder

CTRL_C = signal.getsignal(signal.SIGINT)
KEPT = ("operations", "log", "reads", "partitions")


@pytest.fixture(scope="module")
def session() -> Iterator[SparkHandle]:
    """One JVM for this file."""
    with open_session(name="history") as opened:
        yield opened


@pytest.fixture(scope="module")
def sound() -> Synthetic:
    """A history that is as it should be."""
    return drawn("relay", 1, Random(1))


@pytest.fixture(scope="module")
def sealed(session: SparkHandle, sound: Synthetic, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder, sealed; to be copied before it is broken."""
    folder = write_folder(tmp_path_factory.mktemp("sealed") / "run", [sound])
    assert seal(session.spark, folder) == ()
    return folder


@pytest.mark.usefixtures("session")
def test_ctrl_c_does_as_before_while_a_session_is_open() -> None:
    assert signal.getsignal(signal.SIGINT) is CTRL_C


@pytest.fixture
def copied(sealed: Path, tmp_path: Path) -> Path:
    """A sealed folder that may be broken."""
    return shutil.copytree(sealed, tmp_path / "run")


@pytest.fixture
def lines(unsealed: Path) -> Path:
    """The same with only the tables that are broken here, which is quicker."""
    for table in TABLES:
        if table not in KEPT:
            (unsealed / "history" / f"{table}.jsonl").unlink()
    return unsealed


@pytest.fixture
def unsealed(copied: Path) -> Path:
    """The same folder as a run leaves it that was killed before its seal."""
    for table in TABLES:
        shutil.rmtree(copied / "history" / f"{table}.parquet")
    (copied / "history" / "seal.json").unlink()
    return copied


def refused(session: SparkHandle, folder: Path) -> str:
    """The sentence with which the folder is refused."""
    with pytest.raises(UserError) as user_error:
        open_history(session.spark, folder)
    assert user_error.value.exit is ExitCode.EVIDENCE_UNREADABLE
    assert "\n" not in str(user_error.value)
    return str(user_error.value)


def rows(history: History, table: str) -> list[dict[str, object]]:
    """A table's rows, in some order that is always the same."""
    return sorted((row.asDict() for row in collect_rows(history.tables[table])), key=repr)


def counts(history: History) -> dict[str, int]:
    """How many rows each table has."""
    return {table: history.tables[table].count() for table in ("operations", "log", "reads")}


def written(sound: Synthetic) -> dict[str, int]:
    """How many it must have."""
    return {table: len(getattr(sound, table)) for table in ("operations", "log", "reads")}


def test_sealed_and_unsealed_are_the_same_history(
    session: SparkHandle, sealed: Path, unsealed: Path, sound: Synthetic
) -> None:
    by_parquet, by_lines = (open_history(session.spark, folder) for folder in (sealed, unsealed))
    assert counts(by_parquet) == written(sound)
    for table in TABLES:
        assert rows(by_parquet, table) == rows(by_lines, table)
    assert by_parquet.missing == by_lines.missing == frozenset()
    assert by_parquet.run["scenario"] == "synthetic"


def test_values_are_taken_apart_and_what_is_none_of_ours_is_left_whole(session: SparkHandle, lines: Path) -> None:
    log = lines / "history" / "log.jsonl"
    first = json.loads(log.read_text().splitlines()[0])
    values = ["7/0/2/money:a/b:-5", "+7/0/2/x", "99999999999999999999/0/2/x", "not ours", ""]
    records = [{**first, "topic": "t", "offset": n, "control": None, "value": value} for n, value in enumerate(values)]
    log.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = {
        row["value"]: (row["txn"], row["size"], row["payload"])
        for row in rows(open_history(session.spark, lines), "log")
    }
    assert found == {values[0]: (7, 2, "money:a/b:-5"), **dict.fromkeys(values[1:], (None, None, None))}


def test_without_the_protocol_column_the_name_of_a_client_decides_whether_it_is_v2(
    session: SparkHandle, lines: Path, sealed: Path, tmp_path: Path
) -> None:
    journal = lines / "history" / "operations.jsonl"
    named = {0: "wire-v2", 1: "wire-v1", 2: "librdkafka", 3: "mine-v2"}
    operations = [json.loads(line) for line in journal.read_text().splitlines()]
    before = [{**one, "client": named[n % 4]} for n, one in enumerate(operations)]
    journal.write_text("".join(json.dumps({k: one[k] for k in one if k != "protocol"}) + "\n" for one in before))
    found = {(row["client"], row["protocol"]) for row in rows(open_history(session.spark, lines), "operations")}
    assert found == {("wire-v2", "v2"), ("mine-v2", "v2"), ("wire-v1", None), ("librdkafka", None)}
    parquet = session.spark.read.parquet(str(sealed / "history" / "operations.parquet")).drop("protocol")
    parquet.write.parquet(str(tmp_path / "before.parquet"))
    assert read_sealed(session.spark, tmp_path / "before.parquet", "operations").where("protocol IS NULL").count() > 0


@pytest.mark.parametrize("kept", [1, 20, -1, -2])
def test_a_journal_cut_at_any_byte_loses_its_last_line_only(
    session: SparkHandle, lines: Path, sound: Synthetic, kept: int
) -> None:
    journal = lines / "history" / "operations.jsonl"
    whole, _, last = journal.read_bytes().rstrip(b"\n").rpartition(b"\n")
    cut = last[:kept] if kept != -1 else last
    journal.write_bytes(whole + b"\n" + cut)
    history = open_history(session.spark, lines)
    torn = cut != last
    assert counts(history)["operations"] == len(sound.operations) - torn
    assert len([note for note in history.notes if "torn last line" in note]) == torn


def test_a_character_cut_in_two_is_a_torn_line(session: SparkHandle, lines: Path, sound: Synthetic) -> None:
    journal = lines / "history" / "operations.jsonl"
    journal.write_bytes(journal.read_bytes() + '{"number":1,"actor":"é'.encode()[:-1])
    history = open_history(session.spark, lines)
    assert counts(history) == written(sound)
    assert "torn last line" in history.notes[0]


def test_a_torn_line_stays_reported_after_the_seal(session: SparkHandle, lines: Path) -> None:
    journal = lines / "history" / "reads.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"rea')
    notes = seal(session.spark, lines)
    assert "reads.jsonl: the torn last line" in notes[0]
    assert open_history(session.spark, lines).notes[: len(notes)] == notes


Change = Callable[[dict[str, object]], dict[str, object]]
WRONG: dict[str, tuple[str, Change, str]] = {
    "unknown column": ("operations", lambda row: {**row, "colour": "red"}, "colour"),
    "missing column": ("log", lambda row: {name: row[name] for name in row if name != "epoch"}, "epoch"),
    "text for a number": ("operations", lambda row: {**row, "number": "5"}, "number"),
    "number for a text": ("operations", lambda row: {**row, "actor": 5}, "actor"),
    "fraction for a number": ("log", lambda row: {**row, "offset": 5.5}, "offset"),
    "truth for a number": ("log", lambda row: {**row, "epoch": True}, "epoch"),
    "null where none may be": ("reads", lambda row: {**row, "value": None}, "value"),
    "a verb of no client": ("operations", lambda row: {**row, "verb": "purge"}, "verb"),
    "an outcome of no kind": ("operations", lambda row: {**row, "outcome": "perhaps"}, "outcome"),
    "a control of no kind": ("log", lambda row: {**row, "control": "MAYBE"}, "control"),
    "a list": ("log", lambda row: {**row, "topic": ["a"]}, "topic"),
    "an end before its beginning": ("operations", lambda row: {**row, "ended": -1.0}, "before it starts"),
    "a refusal without a reason": (
        "operations",
        lambda row: {**row, "outcome": "refused", "error": 0, "reason": ""},
        "refused without a reason",
    ),
}


@pytest.mark.parametrize("short", [1 << 20, 0], ids=["in one task", "in several"])
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_line_is_named_by_table_line_and_reason(
    session: SparkHandle, lines: Path, case: str, short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seal_module, "SHORT", short)
    table, change, reason = WRONG[case]
    path = lines / "history" / f"{table}.jsonl"
    journal = path.read_text(encoding="utf-8").splitlines()
    journal[2] = json.dumps(change(json.loads(journal[2])))
    path.write_text("\n".join(journal) + "\n", encoding="utf-8")
    sealing = Sealing(spark=session.spark, source=lines / "history", target=lines / "history", tables=[table])
    with pytest.raises(UserError, match=rf"{table}\.jsonl, line 3: .*{reason}") as user_error:
        sealing.run()
    assert user_error.value.exit is ExitCode.EVIDENCE_UNREADABLE
    assert not (lines / "history" / f"{table}.parquet").exists()


def test_a_broken_line_in_the_middle_is_no_torn_one(session: SparkHandle, lines: Path) -> None:
    path = lines / "history" / "log.jsonl"
    journal = path.read_text().splitlines()
    path.write_text("\n".join([journal[0], '{"topic": "x', *journal[1:]]) + "\n")
    assert "log.jsonl, line 2: not JSON" in refused(session, lines)


def doctored(folder: Path, change: Callable[[list[Operation]], list[Operation]], sound: Synthetic) -> Path:
    """The folder with other operations."""
    text = "".join(to_json(one) + "\n" for one in change(list(sound.operations)))
    (folder / "history" / "operations.jsonl").write_text(text)
    return folder


def _overlapping(operations: list[Operation]) -> list[Operation]:
    mine = [one for one in operations if one.actor == operations[0].actor]
    return [replace(one, ended=one.ended + 1000) if one is mine[0] else one for one in operations]


def _commit_beside_a_write(operations: list[Operation]) -> list[Operation]:
    """A write that ends only after its transaction's end has begun."""
    write = next(one for one in operations if one.verb == "produce" and one.outcome is Outcome.DONE)
    return [replace(one, ended=one.ended + 1000) if one is write else one for one in operations]


NEVER_HAPPENED: dict[str, tuple[Callable[[list[Operation]], list[Operation]], str]] = {
    "two of one number": (lambda all_: [*all_, all_[0]], "is there 2 times"),
    "calls that overlap": (_overlapping, "before its operation"),
    "an end beside a write": (_commit_beside_a_write, "before its operation"),
    "a write before any begin": (
        lambda all_: [one for one in all_ if one.verb != "begin"],
        "had not begun",
    ),
    "a transaction begun twice": (
        lambda all_: [replace(one, txn=some_txn(all_)) if one.verb == "begin" else one for one in all_],
        "begun|is begun",
    ),
    "a record written twice": (
        lambda all_: [replace(one, ordinal=0) if one.verb == "produce" else one for one in all_],
        "is written by 2 operations|is written by",
    ),
}


def some_txn(operations: list[Operation]) -> int:
    """The first transaction."""
    return next(one.txn for one in operations if one.txn is not None)


@pytest.mark.parametrize("case", NEVER_HAPPENED)
def test_what_cannot_have_happened_is_not_judged(
    session: SparkHandle, lines: Path, sound: Synthetic, case: str
) -> None:
    change, reason = NEVER_HAPPENED[case]
    with pytest.raises(UserError, match=reason) as user_error:
        open_history(session.spark, doctored(lines, change, sound))
    assert "operations" in str(user_error.value)


def test_two_records_at_one_offset_are_refused(session: SparkHandle, lines: Path) -> None:
    path = lines / "history" / "log.jsonl"
    path.write_text(path.read_text() + path.read_text().splitlines()[0] + "\n")
    assert "is there 2 times" in refused(session, lines)


def test_a_folder_without_its_run_is_no_run_folder(session: SparkHandle, copied: Path) -> None:
    (copied / "run.json").unlink()
    assert "no run.json" in refused(session, copied)


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ('{"kind": "chaos", "format": 99}', "has format 99; this Fencepost reads format 1"),
        ('{"kind": "qualify", "format": 1}', "not of a chaos run: its kind is qualify"),
        ('{"kind": "chaos", "for', "cannot be read"),
        ("[]", "not of a chaos run"),
    ],
)
def test_a_run_of_another_kind_or_version_is_refused(session: SparkHandle, copied: Path, run: str, reason: str) -> None:
    (copied / "run.json").write_text(run)
    assert reason in refused(session, copied)


def test_a_required_table_that_is_missing_is_named(session: SparkHandle, lines: Path) -> None:
    (lines / "history" / "partitions.jsonl").unlink()
    assert "no history/partitions.parquet and no history/partitions.jsonl" in refused(session, lines)


def test_another_table_that_is_missing_is_empty_and_noted(session: SparkHandle, lines: Path) -> None:
    history = open_history(session.spark, lines)
    assert history.missing == TABLES.keys() - KEPT
    assert rows(history, "levels") == []
    assert "there is no table levels: what rests on it is not exercised" in history.notes


def part(folder: Path, table: str) -> Path:
    """A file of a table."""
    return next((folder / "history" / f"{table}.parquet").glob("*.parquet"))


def cut(file: Path) -> None:
    """Half of a file."""
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def scratch(file: Path) -> None:
    """A file whose footer is overwritten, with its magic number left as it was."""
    content = file.read_bytes()
    file.write_bytes(content[:-60] + b"\xff" * 52 + content[-8:])


@pytest.mark.parametrize("damage", [cut, scratch, Path.unlink])
@pytest.mark.parametrize("marked", [True, False], ids=["sealed by us", "written elsewhere"])
def test_damaged_parquet_is_named(
    session: SparkHandle, copied: Path, damage: Callable[[Path], None], marked: bool
) -> None:
    if not marked:
        (copied / "history" / "seal.json").unlink()
    damage(part(copied, "log"))
    assert "log.parquet" in refused(session, copied)


def test_parquet_of_another_tool_is_judged_like_ours(session: SparkHandle, copied: Path, sealed: Path) -> None:
    (copied / "history" / "seal.json").unlink()
    log = session.spark.read.parquet(str(sealed / "history" / "log.parquet"))
    fewer = log.drop("timestamp_ms", "txn", "ordinal", "size", "payload").withColumn(
        "partition", log["partition"].cast("int")
    )
    fewer.write.mode("overwrite").parquet(str(copied / "history" / "log.parquet"))
    assert rows(open_history(session.spark, copied), "log") == rows(open_history(session.spark, sealed), "log")


def test_parquet_with_a_column_of_another_type_is_refused(session: SparkHandle, copied: Path, sealed: Path) -> None:
    (copied / "history" / "seal.json").unlink()
    log = session.spark.read.parquet(str(sealed / "history" / "log.parquet"))
    log.withColumn("offset", log["offset"].cast("string")).write.mode("overwrite").parquet(
        str(copied / "history" / "log.parquet")
    )
    assert "column offset is string, not bigint" in refused(session, copied)


def test_a_line_that_is_too_long_is_told_so(session: SparkHandle, lines: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_tables, "BLOCK_BYTES", 1_000)
    log = lines / "history" / "log.jsonl"
    first, *rest = log.read_text().splitlines()
    long = json.dumps({**json.loads(first), "value": "x" * 5_000})
    log.write_text("\n".join([long, *rest]) + "\n")
    assert "no line may be longer than" in refused(session, lines)
