"""A journal: there from the beginning, its lines whole with several writers, closed twice without an error."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.evidence.exchange import Exchange
from harness.evidence.history.history_journal import TABLES, HistoryJournal
from harness.evidence.history.operation import Phase
from harness.evidence.journal import ExchangeJournal, Journal
from harness.evidence.json_codec import from_json


def exchange(number: int) -> Exchange:
    """An exchange whose line is long enough to be torn."""
    return Exchange(
        number=number, actor="victim", lane="victim", node=1, api="EndTxn", key=26, version=5, sent=1.0, answered=2.5,
        request={"text": "ä" * (number % 500)},
    )  # fmt: skip


def test_every_table_exists_from_the_beginning_and_is_empty(tmp_path: Path) -> None:
    HistoryJournal(tmp_path / "history").close()
    assert {path.stem for path in (tmp_path / "history").iterdir()} == set(TABLES)
    assert all(not path.stat().st_size for path in (tmp_path / "history").iterdir())


def test_threads_write_whole_lines_and_take_each_number_once(tmp_path: Path) -> None:
    journal = ExchangeJournal(tmp_path / "journal.jsonl")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: journal.record(exchange(journal.next_number())), range(1_000)))
    journal.close()
    lines = (tmp_path / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert sorted(from_json(Exchange, line).number for line in lines) == list(range(1, 1_001))
    assert all(from_json(Exchange, line) == exchange(from_json(Exchange, line).number) for line in lines)


def test_a_line_is_on_disk_when_append_returns_and_later_ones_are_added_to_it(tmp_path: Path) -> None:
    path = tmp_path / "phases.jsonl"
    calm, storm = (Phase(name=name, started=0.0, ended=1.0) for name in ("calm", "storm"))
    journals = Journal(path), Journal(path)
    for journal, phase in zip(journals, (calm, storm), strict=True):
        journal.append(phase)
    assert [from_json(Phase, line) for line in path.read_text().splitlines()] == [calm, storm]
    for journal in journals:
        journal.close()


def test_what_comes_after_the_end_is_dropped(tmp_path: Path) -> None:
    journal = ExchangeJournal(tmp_path / "journal.jsonl")
    journal.record(exchange(1))
    journal.close()
    journal.close()
    journal.record(exchange(2))
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 1
