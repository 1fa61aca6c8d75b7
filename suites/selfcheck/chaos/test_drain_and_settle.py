"""What is read after a run, and how it is waited for, without a broker: brokers are tables of answers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.chaos.observe import coordinator_probe
from harness.chaos.observe import drain as drain_module
from harness.chaos.observe.drain import Drained, Scope, drain
from harness.chaos.observe.settle import SettleConditions
from harness.clients.client import CallResult
from harness.clients.recording_client import RecordingClient
from harness.evidence.history.anomalies import PROBE
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import Outcome
from harness.kafka import raw_log, wire_log_reader
from harness.kafka.leader_client import LeaderClient, Unreachable
from harness.spark.readers.checkpoint import Checkpoint
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions, DescribeTransactionsResult
from harness.wire.wire_errors import ConnectionClosed, NoAnswer, NotOffered
from suites.selfcheck.fixtures.fake_client import FakeClient
from suites.selfcheck.fixtures.fake_log_cluster import LOG, PARTITION, Broker, batch, leader_client


@pytest.fixture
def history_journal(tmp_path: Path) -> Iterator[HistoryJournal]:
    """A history of the test's own."""
    made = HistoryJournal(tmp_path)
    yield made
    made.close()


def test_what_a_cleaner_removed_is_counted_from_the_beginning_to_the_high_watermark() -> None:
    compacted = (batch(1, "b"), batch(4, "x", "y"), batch(9, "z"))
    counted = raw_log.compacted_away(leader_client(Broker(log=compacted)), PARTITION, RunClock(), timeout_seconds=1)
    assert counted == (6, 10)
    whole = (batch(0, "a", "b"), batch(2, "c"))
    counted = raw_log.compacted_away(leader_client(Broker(log=whole)), PARTITION, RunClock(), timeout_seconds=1)
    assert counted == (0, 3)


def test_every_record_of_the_log_has_its_own_offset_and_sequence_and_markers_are_decoded() -> None:
    raw = raw_log.read_raw(leader_client(Broker(log=LOG)), PARTITION, RunClock(), timeout_seconds=1)
    seen = [(r.offset, r.batch_offset, r.sequence, r.control, r.coordinator_epoch, r.value) for r in raw.records()]
    assert seen == [
        (0, 0, 4, None, None, "1/0/2/a"),
        (1, 0, 5, None, None, "1/1/2/b"),
        (2, 2, -1, "COMMIT", 3, None),
        (3, 3, 0, None, None, "x"),
        (4, 4, -1, "ABORT", 3, None),
    ]
    assert (raw.still, raw.end.high_watermark, raw.watermarks.high_watermark) == (True, 5, 5)


def test_a_partition_that_grows_while_it_is_read_is_read_on() -> None:
    raw = raw_log.read_raw(
        leader_client(Broker(log=LOG[:1], growing=list(LOG[1:]))), PARTITION, RunClock(), timeout_seconds=60
    )
    assert [record.offset for record in raw.records()] == [0, 1, 2, 3, 4]
    assert (raw.still, raw.end.high_watermark) == (True, 5)


def test_a_partition_that_keeps_growing_is_marked_as_not_still() -> None:
    raw = raw_log.read_raw(
        leader_client(Broker(log=LOG[:1], growing=list(LOG[1:]))), PARTITION, RunClock(), timeout_seconds=0
    )
    assert (raw.still, raw.end.high_watermark, len(raw.batches)) == (False, 3, 2)


def test_a_log_that_ends_below_its_high_watermark_is_not_taken_for_whole() -> None:
    with pytest.raises(Unreachable, match="t-0 at 5 below 7 answered nothing"):
        raw_log.read_raw(leader_client(Broker(log=LOG, lost=2)), PARTITION, RunClock(), timeout_seconds=0)


def committed_of(broker: Broker, wanted: int) -> tuple[list[str], int]:
    """What the wire reader delivers, and how far it comes."""
    shown: list[str] = []
    ends = wire_log_reader.read_committed(
        leader_client(broker),
        {PARTITION: wanted},
        timeout_seconds=0,
        deliver=lambda records: shown.extend(each[3] for each in records),
    )
    return shown, ends[PARTITION]


def test_the_wire_reader_hides_what_is_aborted_and_comes_behind_the_last_marker() -> None:
    assert committed_of(Broker(log=LOG, aborted={3: ((8, 3),)}), 5) == (["1/0/2/a", "1/1/2/b"], 5)


def test_the_wire_reader_takes_each_answers_own_list_of_aborted_transactions() -> None:
    log = (batch(0, "a"), batch(1, "b"), batch(2, control=0))
    assert committed_of(Broker(log=log, aborted={0: ((7, 0),)}), 3) == (["b"], 3)


def test_answers_that_end_within_a_transaction_are_counted() -> None:
    account = wire_log_reader.FetchAccount()
    account.note(LOG[:2])
    account.note(LOG[:1])
    account.note(LOG[1:2])
    account.note(())
    assert (account.answers, account.within) == (3, 1)


def test_a_reader_that_cannot_reach_the_end_returns_where_it_ended() -> None:
    assert committed_of(Broker(log=LOG, stable=3), 5) == (["1/0/2/a", "1/1/2/b"], 3)
    assert committed_of(Broker(log=LOG, failing={1: ConnectionClosed("gone")}), 5) == ([], 0)


def test_a_log_whose_beginning_was_deleted_is_read_from_where_it_begins_and_settles() -> None:
    trimmed = Broker(leaders={1: (1, 0, (1, 2)), 2: (1, 0, (1, 2))}, log=LOG, begin=3, aborted={3: ((8, 3),)})
    raw = raw_log.read_raw(leader_client(trimmed), PARTITION, RunClock(), timeout_seconds=1)
    assert (raw.end.log_start_offset, raw.watermarks.high_watermark, raw.still) == (3, 5, True)
    assert [batch.base_offset for batch in raw.batches] == [3, 4]
    assert committed_of(trimmed, 5) == ([], 5)
    conditions = SettleConditions(
        leader_client=leader_client(trimmed, (1, 2)), partitions=[PARTITION], transactional_ids=[]
    )
    assert [conditions.check(), conditions.check()] == [False, True]


def test_an_older_leader_epoch_is_not_believed() -> None:
    client = leader_client(Broker(leaders={1: (1, 4, (1,)), 2: (2, 5, (2,))}), (1, 2))
    assert client.leader(PARTITION) == 2
    client.forget([PARTITION])
    assert client.leader(PARTITION) == 2


def test_a_broker_that_is_away_is_passed_over() -> None:
    broker = Broker(leaders={1: (1, 4, (1,)), 2: (1, 4, (1,))}, failing={2: NoAnswer("paused")})
    assert leader_client(broker, (1, 2)).leader(PARTITION) == 1
    assert broker.asked == [(2, "Metadata"), (1, "Metadata")]


def test_a_request_that_no_broker_can_answer_is_not_repeated() -> None:
    broker = Broker()
    client = leader_client(broker)
    client.leader(PARTITION)
    broker.failing[1] = NotOffered("broker 1 offers no Fetch")
    with pytest.raises(Unreachable, match="offers no Fetch"):
        client.at_leader(PARTITION, FetchWatermarks(partitions=(PARTITION,)), timeout_seconds=60)
    assert len(broker.asked) == 2


@dataclass
class FewDescribed:
    """Brokers that describe no transactional id but these; ``waited`` has the seconds that each answer had."""

    described: Sequence[str] = ()
    waited: list[float] = field(default_factory=list)

    def at_coordinator(
        self, key: str, _request: DescribeTransactions, *, timeout_seconds: float
    ) -> DescribeTransactionsResult:
        self.waited.append(timeout_seconds)
        if key not in self.described:
            raise Unreachable(f"{key} is not described", KafkaError.NOT_COORDINATOR)
        return DescribeTransactionsResult(
            error=KafkaError.TRANSACTIONAL_ID_NOT_FOUND,
            error_message=None,
            state="",
            producer_id=-1,
            producer_epoch=-1,
            timeout_ms=0,
            start_time_ms=-1,
            partitions=[],
        )

    def close(self) -> None:
        """Nothing is open."""

    def drained(self, ids: Sequence[str], history_journal: HistoryJournal, monkeypatch: pytest.MonkeyPatch) -> Drained:
        monkeypatch.setattr(LeaderClient, "over", lambda *_, **__: self)
        monkeypatch.setattr(drain_module, "_readers", lambda *_: None)
        scope = Scope(partitions=(), broker_addresses={}, transactional_ids=ids)
        return drain(scope, history_journal, RunClock(), timeout_seconds=10)


def test_descriptions_that_never_come_are_waited_for_less_and_each_is_noted(
    history_journal: HistoryJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    brokers, ids = FewDescribed(), [f"id-{number}" for number in range(400)]
    result = brokers.drained(ids, history_journal, monkeypatch)
    assert result.notes == [f"{each} is not described" for each in ids]
    asked = [("DescribeTransactions", each, KafkaError.NOT_COORDINATOR) for each in ids]
    assert [(each.api, each.of, each.error) for each in result.unanswered] == asked
    assert brokers.waited[:2] == [10, 10]
    assert sum(brokers.waited) < 70


def test_a_description_that_comes_gives_the_next_one_its_full_time(
    history_journal: HistoryJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    brokers = FewDescribed(described=["known"])
    brokers.drained(["a", "b", "c", "known", "d"], history_journal, monkeypatch)
    assert brokers.waited[2] < 10
    assert brokers.waited[4] == 10


@pytest.mark.parametrize(
    ("broker", "unmet"),
    [
        (Broker(leaders={1: (1, 0, (1, 2)), 2: (1, 0, (1, 2))}, log=LOG), {}),
        (Broker(leaders={1: (1, 0, (1, 2)), 2: (1, 0, (1,))}, log=LOG), {"in_sync": ["t-0 by broker 2"]}),
        (Broker(leaders={1: (1, 0, (1, 2)), 2: (1, 0, (1, 2))}, log=LOG, stable=3), {"stable": ["t-0"]}),
    ],
    ids=["settled", "out of sync as one broker knows it", "last stable offset below"],
)
def test_what_keeps_a_cluster_from_settling_is_named(broker: Broker, unmet: Mapping[str, object]) -> None:
    conditions = SettleConditions(
        leader_client=leader_client(broker, (1, 2)), partitions=[PARTITION], transactional_ids=[]
    )
    assert conditions.check() == (not unmet)
    assert {name: found for name, found in conditions.unmet.items() if found} == unmet
    assert conditions.met_after_ms.keys() == {"in_sync", "stable", "no_open_transaction"} - unmet.keys()


LISTED = {
    1: [("round-1-crowd-7", "Ongoing"), ("round-1-crowd-8", "CompleteCommit"), ("round-10-crowd-7", "Ongoing")],
    2: [("round-1-crowd-9", "PrepareAbort")],
}
SETTLED = {1: (1, 0, (1, 2)), 2: (1, 0, (1, 2))}


@pytest.mark.parametrize(
    ("broker", "open_"),
    [
        (Broker(leaders=SETTLED, log=LOG, listed=LISTED), ["round-1-crowd-7 Ongoing", "round-1-crowd-9 PrepareAbort"]),
        (Broker(leaders=SETTLED, log=LOG, listed={1: [("another", "Ongoing")]}), []),
        (Broker(leaders=SETTLED, log=LOG, loading=True), [f"broker {one} lists no transactions" for one in (1, 2)]),
    ],
    ids=["two of the round", "one of nobody here", "loading"],
)
def test_a_transaction_without_a_record_keeps_a_cluster_from_settling(broker: Broker, open_: Sequence[str]) -> None:
    conditions = SettleConditions(
        leader_client=leader_client(broker, (1, 2)), partitions=[PARTITION], transactional_ids=[], id_prefix="round-1-"
    )
    assert conditions.check() == (not open_)
    assert conditions.unmet == {"in_sync": [], "stable": [], "no_open_transaction": open_}


def probed(
    history_journal: HistoryJournal, unsure: list[str], timeout_seconds: float
) -> tuple[object, list[tuple[str, str, str, int]]]:
    """What one probe returns, and the ends of its transactions in the history."""
    clock = RunClock()
    commits = [CallResult(outcome=Outcome.UNSURE, error=None, reason=reason) for reason in unsure]

    def opened(actor: str, transactional_id: str) -> RecordingClient:
        client = FakeClient({"commit": commits})
        return RecordingClient(
            client=client, actor=actor, transactional_id=transactional_id, clock=clock, history_journal=history_journal
        )

    probe = coordinator_probe.Probe(
        number=2, broker=3, transactional_id="p", partitions=[PARTITION], open_client=opened
    )
    one = probe.run(timeout_seconds)
    operations = [json.loads(line) for line in (history_journal.folder / "operations.jsonl").read_text().splitlines()]
    ends = [
        (op["actor"], op["outcome"], op["transactional_id"], op["txn"]) for op in operations if op["verb"] == "commit"
    ]
    return (one["tries"], one["committed"]), ends


def test_every_try_of_a_probe_is_in_the_history_under_a_name_of_its_own(history_journal: HistoryJournal) -> None:
    result, ends = probed(history_journal, ["lost"], timeout_seconds=60)
    assert result == (2, True)
    assert ends == [(f"{PROBE}3", "unsure", "p", 2001), (f"{PROBE}3.2", "done", "p", 2002)]


def test_a_probe_gives_up_when_its_time_is_over(history_journal: HistoryJournal) -> None:
    result, ends = probed(history_journal, ["lost", "lost"], timeout_seconds=0)
    assert result == (1, False)
    assert ends == [(f"{PROBE}3", "unsure", "p", 2001)]


def test_a_checkpoint_shows_how_far_a_query_came_and_that_it_was_at_work(tmp_path: Path) -> None:
    checkpoint = Checkpoint(folder=tmp_path)
    assert (checkpoint.planned, checkpoint.committed, checkpoint.ends()) == (-1, -1, {})
    for log, batches in (("offsets", (9, 10)), ("commits", (9,))):
        (tmp_path / log).mkdir()
        for number in batches:
            (tmp_path / log / str(number)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{{"t":{{"0":{number * 2}}}}}')
        (tmp_path / log / f".{batches[0]}.crc").write_text("a checksum")
    assert (checkpoint.in_mid_batch, checkpoint.ends()) == (True, {("t", 0): 18})
