"""The recorder writes the right operation for every call, before its result is used."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.clock import RunClock
from harness.clients.client import CallResult
from harness.clients.recording_client import RecordingClient
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.evidence.history.history_journal import TABLES, HistoryJournal
from harness.evidence.history.operation import Operation, Outcome, Read
from harness.evidence.json_codec import from_json
from suites.selfcheck.fixtures.fake_client import FakeClient

KNOWN = CallResult(outcome=Outcome.DONE, producer_id=4711, epoch=3)
LOST = CallResult(outcome=Outcome.UNSURE, error=None, reason="no answer", producer_id=4711, epoch=3, tries=2)


@dataclass(slots=True)
class Recorded:
    """A recording client over a fake one, and what it has written so far."""

    fake: FakeClient
    client: RecordingClient
    folder: Path

    def operations(self) -> list[Operation]:
        """As they stand on disk now, while the tables are still open."""
        return [from_json(Operation, line) for line in self._lines("operations")]

    def reads(self) -> list[Read]:
        """Likewise."""
        return [from_json(Read, line) for line in self._lines("reads")]

    def _lines(self, table: str) -> list[str]:
        return (self.folder / f"{table}.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Recorded]:
    """A fresh one."""
    fake = FakeClient(answer=KNOWN)
    client = RecordingClient(
        client=fake,
        actor="teller",
        transactional_id="id",
        clock=RunClock(),
        history_journal=HistoryJournal(tmp_path),
        group="g",
    )
    yield Recorded(fake, client, tmp_path)
    client.history_journal.close()


def test_what_is_asked_for_with_an_init_is_kept(recorded: Recorded) -> None:
    recorded.client.timeout_ms = 6_000
    recorded.client.init()
    recorded.client.begin(7, 1)
    assert [row.timeout_ms for row in recorded.operations()] == [6_000, None]


def test_every_value_carries_its_transaction_its_place_and_its_size(recorded: Recorded) -> None:
    recorded.client.begin(7, 2)
    recorded.client.produce("t", 1, "money:a:-5")
    recorded.client.produce("t", 0, "money:b:5")
    assert recorded.fake.wrote == [("t", 1, "7/0/2/money:a:-5"), ("t", 0, "7/1/2/money:b:5")]
    first, second = recorded.operations()[1:]
    assert (first.txn, first.ordinal, first.size, first.topic, first.partition, first.payload) == (
        7, 0, 2, "t", 1, "money:a:-5",
    )  # fmt: skip
    assert (second.ordinal, second.number) == (1, first.number + 1)


def test_a_transactions_number_is_on_every_operation_until_it_is_over(recorded: Recorded) -> None:
    client = recorded.client
    client.init()
    client.begin(7, 1)
    client.produce("t", 0)
    client.send_offsets("in", 2, 42)
    client.commit()
    client.close()
    verbs = [(each.verb, each.txn) for each in recorded.operations()]
    assert verbs == [
        ("init", None), ("begin", 7), ("produce", 7), ("send_offsets", 7), ("commit", 7), ("close", None),
    ]  # fmt: skip
    sent = recorded.operations()[3]
    assert (sent.group, sent.topic, sent.partition, sent.offset) == ("g", "in", 2, 42)


def test_the_clients_result_is_what_the_history_keeps(recorded: Recorded) -> None:
    recorded.client.begin(7, 1)
    recorded.fake.answer = LOST
    assert recorded.client.commit() is LOST
    ended = recorded.operations()[-1]
    assert (ended.outcome, ended.error, ended.reason, ended.producer_id, ended.epoch, ended.tries) == (
        Outcome.UNSURE, None, "no answer", 4711, 3, 2,
    )  # fmt: skip
    assert (ended.actor, ended.client, ended.protocol, ended.transactional_id) == ("teller", "fake", "v2", "id")
    assert ended.started <= ended.ended


def test_records_that_a_poll_delivered_are_in_the_history_before_the_poll_itself(recorded: Recorded) -> None:
    records = [DeliveredRecord("in", 0, 5, "1/0/1/"), DeliveredRecord("in", 1, 9, "2/0/1/")]
    recorded.fake.polled = CallResult(outcome=Outcome.DONE, records=records)
    recorded.client.subscribe(["in"])
    recorded.client.poll(100)
    recorded.client.poll(100)
    assert [(r.reader, r.partition, r.offset, r.position) for r in recorded.reads()] == [
        ("teller", 0, 5, 0), ("teller", 1, 9, 1), ("teller", 0, 5, 2), ("teller", 1, 9, 3),
    ]  # fmt: skip
    assert [each.count for each in recorded.operations()] == [None, 2, 2]


def test_every_table_is_there_from_the_beginning_and_nothing_is_written_after_the_end(recorded: Recorded) -> None:
    assert {path.name for path in recorded.folder.iterdir()} == {f"{table}.jsonl" for table in TABLES}
    recorded.client.init()
    recorded.client.history_journal.close()
    recorded.client.close()
    assert [each.verb for each in recorded.operations()] == ["init"]
