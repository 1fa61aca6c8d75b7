"""A run that is killed at any moment loses nothing that it had written, save a torn last line of a table."""

import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from harness.base import wait
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import Operation, Outcome
from harness.evidence.json_codec import from_json
from harness.evidence.json_lines import first_bad_line, torn_last_line


def write_on(folder: Path) -> None:
    """Write operations until the process is killed, numbered without a gap."""
    history_journal = HistoryJournal(folder)
    while True:
        number = history_journal.next_operation()
        history_journal.write(
            Operation(
                number=number,
                actor="teller",
                client="wire-v2",
                verb="init",
                started=float(number),
                ended=float(number),
                outcome=Outcome.DONE,
                transactional_id="id",
                reason="x" * (number % 5_000),  # lines of all lengths, so that a kill can fall into one
            )
        )


def whole_lines(path: Path) -> tuple[list[Operation], str]:
    """The operations of all ended lines, and what is left of one that was not."""
    *lines, rest = path.read_text(encoding="utf-8").split("\n")
    return [from_json(Operation, line) for line in lines], rest


@pytest.mark.parametrize("seed", range(3))
def test_a_writer_killed_at_a_drawn_size_loses_at_most_its_last_line(seed: int, tmp_path: Path) -> None:
    table = tmp_path / "operations.jsonl"
    least = Random(seed).randrange(50_000, 2_000_000)
    with subprocess.Popen([sys.executable, "-c", f"{WRITER}write_on(Path({str(tmp_path)!r}))"]) as writer:
        try:
            wait.until(lambda: table.exists() and table.stat().st_size >= least, what="the writer", timeout_seconds=30)
        finally:
            writer.kill()
    assert writer.returncode == -signal.SIGKILL
    operations, _ = whole_lines(table)
    assert [each.number for each in operations] == list(range(1, len(operations) + 1))
    assert len(operations) >= 100


WRITER = f"from pathlib import Path; from {__name__} import write_on; "


@pytest.mark.parametrize("seed", range(20))
def test_a_table_cut_at_a_drawn_byte_is_whole_up_to_its_last_line(seed: int, tmp_path: Path) -> None:
    history_journal = HistoryJournal(tmp_path)
    for number in range(1, 51):
        history_journal.write(
            Operation(
                number=number, actor="ä" * (number % 7), client="wire-v2", verb="commit", txn=number,
                started=1.0, ended=2.0, outcome=Outcome.UNSURE,
            )
        )  # fmt: skip
    history_journal.close()
    table = tmp_path / "operations.jsonl"
    octets = table.read_bytes()
    cut = octets[: Random(seed).randrange(len(octets))]
    table.write_bytes(cut)
    torn = torn_last_line(table)
    assert (torn is None) == (cut.endswith(b"\n") or not cut)
    assert first_bad_line(table, Operation, torn=torn is not None) is None
    whole = cut.decode("utf-8", "ignore").split("\n")[:-1]
    assert [from_json(Operation, line).number for line in whole] == list(range(1, len(whole) + 1))
