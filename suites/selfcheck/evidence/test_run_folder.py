"""The run folder: what is written comes back, a torn line is dropped and reported, malformed evidence is refused."""

from pathlib import Path

import pytest

from harness.base.user_error import ExitCode, UserError
from harness.contract.doctored import commit, data, evidence, held_link, log, sample, step
from harness.evidence.exchange import Exchange
from harness.evidence.json_codec import Malformed, from_json, to_json
from harness.evidence.requirement_evidence import Evidence
from harness.evidence.run_folder import RunFolder
from suites.selfcheck.fixtures.user_errors import raises_user_error

EVIDENCE = evidence(
    step("late", "Produce", 12, error=None, answered=None, held=3.5, partitions={"P1": {"error": 47}}),
    logs={"P1": log(data(1, 0, "a"), commit(1, 1))},
    faults=(held_link("hold"),),
    samples=(sample("after", "P1", 2, 2),),
    settled_ms=None,
)
EXCHANGE = Exchange(
    number=1, actor="victim", lane="victim", node=1, api="EndTxn", key=26, version=5, sent=1.0, answered=2.5, request={}
)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", {"target": "kafka:4.3.1"})


def test_evidence_comes_back_as_it_was(folder: RunFolder) -> None:
    folder.write_evidence("KIP890-BUMP-05", EVIDENCE)
    assert dict(folder.evidence()) == {"KIP890-BUMP-05": EVIDENCE}


def test_a_torn_last_line_of_the_journal_is_dropped_and_reported(folder: RunFolder) -> None:
    journal = folder.journal()
    for _ in range(3):
        journal.record(EXCHANGE)
    journal.close()
    path = folder.path / "journal.jsonl"
    whole = path.read_bytes()
    for length in range(len(whole) * 2 // 3, len(whole)):
        path.write_bytes(whole[:length])
        exchanges, dropped = folder.exchanges()
        assert len(exchanges) == whole[:length].count(b"\n") or dropped is None
        assert all(exchange == EXCHANGE for exchange in exchanges)


def test_a_malformed_line_in_the_middle_is_refused_with_its_number(folder: RunFolder) -> None:
    (folder.path / "journal.jsonl").write_text(f'{{"number": 1}}\n{to_json(EXCHANGE)}\n')
    with raises_user_error(ExitCode.EVIDENCE_UNREADABLE, "line 1"):
        folder.exchanges()


@pytest.mark.parametrize(
    "text",
    ['{"steps": 1}', '{"stranger": 1}', '{"steps": [{"name": "a"}]}', '{"unprepared": 3}', "nonsense", "[]"],
)
def test_malformed_evidence_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        from_json(Evidence, text)


def test_a_folder_of_another_format_is_refused(folder: RunFolder) -> None:
    (folder.path / "run.json").write_text('{"format": 99}')
    with pytest.raises(UserError, match="format 99"):
        RunFolder.open(folder.path)


def test_a_folder_of_another_kind_is_refused(folder: RunFolder) -> None:
    with pytest.raises(UserError, match="not of a chaos run: its kind is contract"):
        RunFolder.open(folder.path, kind="chaos")


def test_a_folder_that_holds_a_run_is_not_written_over(folder: RunFolder) -> None:
    with pytest.raises(UserError, match="already holds a run"):
        RunFolder.create(folder.path, {})
