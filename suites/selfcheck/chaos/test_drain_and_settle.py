"""What is read after a run, and how it is waited for, without a broker: brokers are tables of answers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.chaos.observe import coordinator_probe
from harness.chaos.observe.settle import SettleConditions
from harness.clients.client import CallResult
from harness.clients.recording_client import RecordingClient
from harness.evidence.history.anomalies import PROBE
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import Outcome
from harness.kafka import raw_log, wire_log_reader
from harness.kafka.leader_client import LeaderClient, Unreachable
from harness.spark.readers.checkpoint import Checkpoint
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.records.record_batch import LogBatch, NewBatch, read_log
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult
from harness.wire.requests.log.fetch import Fetch, FetchResult
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks, FetchWatermarksResult
from harness.wire.requests.log.list_offsets import EARLIEST, ListOffsets, ListOffsetsResult
from harness.wire.requests.transactions.list_transactions import ListTransactions, ListTransactionsResult
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import ConnectionClosed, NoAnswer, NotOffered
from suites.selfcheck.fixtures.fake_client import FakeClient

PARTITION: TopicPartition = ("t", 0)
"""The one partition."""


@dataclass(slots=True, kw_only=True)
class Broker:
    """Every broker of a made-up cluster; an exception is raised instead of an answer.

    :param leaders: By the broker that is asked for metadata: (leader, leader epoch, in-sync replicas) as it knows them.
    :param log: Batches of the one partition; a Fetch answers with one of them.
    :param stable: The last stable offset, where it is not the high watermark.
    :param aborted: The aborted transactions in the answer to a Fetch from an offset.
    :param failing: What a broker that is away does instead of answering.
    :param growing: Appended to the log, one at each ListOffsets of its beginning.
    :param begin: Where the log begins, since what is below was deleted.
    :param lost: How many offsets below the high watermark no Fetch gives.
    :param listed: By broker: the (transactional id, state) that it lists. :param loading: Whether it lists none yet.
    """

    leaders: Mapping[int, tuple[int, int, Sequence[int]]] = field(default_factory=lambda: {1: (1, 0, (1, 2))})
    log: Sequence[LogBatch] = ()
    stable: int | None = None
    aborted: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    failing: dict[int, Exception] = field(default_factory=dict)
    asked: list[tuple[int, str]] = field(default_factory=list)
    growing: list[LogBatch] = field(default_factory=list)
    lost: int = 0
    begin: int = 0
    listed: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict)
    loading: bool = False

    def call(
        self, node: int, request: ApiRequest[ApiResult], _version: int | None = None, *, timeout_seconds: float = 0
    ) -> Any:
        """As the wire client's."""
        assert timeout_seconds >= 0
        self.asked.append((node, request.api))
        if node in self.failing:
            raise self.failing[node]
        return Answer(result=self.result(node, request))

    def highest(self, _node: int, _api: str, cap: int | None = None) -> int | None:
        """Any version will do."""
        return cap

    def close(self) -> None:
        """Nothing is open."""

    def result(self, node: int, request: object) -> object:
        """The request's own answer."""
        match request:
            case Metadata():
                return self._metadata(node)
            case ListOffsets(timestamp=timestamp, isolation=isolation):
                if timestamp == EARLIEST and self.growing:
                    self.log = (*self.log, self.growing.pop(0))
                offset = self.begin if timestamp == EARLIEST else (self.end if isolation == 0 else self.stable_end)
                return ListOffsetsResult(error=0, error_message=None, offset=offset, timestamp_ms=-1, leader_epoch=-1)
            case FetchWatermarks(log_starts=starts):
                error = self._out_of_range(starts.get(PARTITION, 0))
                watermarks = {} if error else {PARTITION: (self.end, self.stable_end)}
                return FetchWatermarksResult(
                    error=error, error_message=None, watermarks=watermarks, partitions={PARTITION: error}
                )
            case Fetch(offset=offset, isolation=isolation):
                return self._fetched(offset, self.stable_end if isolation else self.end)
            case ListTransactions(states=states):
                return self._listing(node, states)
        raise AssertionError(request)

    def _out_of_range(self, offset: int) -> int:
        return KafkaError.OFFSET_OUT_OF_RANGE if offset < self.begin else 0

    @property
    def end(self) -> int:
        """The high watermark."""
        return self.lost + (self.log[-1].last_offset + 1 if self.log else 0)

    @property
    def stable_end(self) -> int:
        """The last stable offset."""
        return self.end if self.stable is None else self.stable

    def _metadata(self, node: int) -> MetadataResult:
        leader, epoch, isr = self.leaders[node]
        partition: Any = {"error": 0, "leader": leader, "leader_epoch": epoch, "replicas": [1, 2], "isr": list(isr)}
        topics: Any = {"t": {"id": None, "error": 0, "partitions": {0: partition}}}
        return MetadataResult(error=0, error_message=None, cluster_id=None, controller=1, brokers={}, topics=topics)

    def _listing(self, node: int, states: Sequence[str]) -> ListTransactionsResult:
        error = KafkaError.COORDINATOR_LOAD_IN_PROGRESS if self.loading else 0
        found: Any = [
            {"transactional_id": name, "producer_id": 7, "state": state}
            for name, state in self.listed.get(node, ())
            if state in states
        ]
        return ListTransactionsResult(error=error, error_message=None, transactions=found, unknown_states=[])

    def _fetched(self, offset: int, end: int) -> FetchResult:
        error = self._out_of_range(offset)
        batch = next((each for each in self.log if not error and offset <= each.last_offset < end), None)
        return FetchResult(
            error=error,
            error_message=None,
            high_watermark=self.end,
            last_stable_offset=self.stable_end,
            log_start_offset=0,
            aborted=self.aborted.get(offset, ()),
            batches=() if batch is None else (batch,),
            next_offset=offset if batch is None else batch.last_offset + 1,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer."""

    result: object


def leader_client(broker: Broker, brokers: Sequence[int] = (1,)) -> LeaderClient:
    """A client on the made-up cluster."""
    return LeaderClient(client=broker, brokers=brokers)  # type: ignore[arg-type]


def batch(offset: int, *values: str, producer: int = 7, sequence: int = 0, control: int | None = None) -> LogBatch:
    """A batch of the log at an offset: records, or with ``control`` a marker (0 is ABORT, 1 is COMMIT)."""
    sent = NewBatch(values=values or ("",), producer_id=producer, producer_epoch=0, base_sequence=sequence)
    encoded = bytearray(sent.encode())
    encoded[:8] = offset.to_bytes(8, "big")
    (made,) = read_log(bytes(encoded))
    if control is None:
        return made
    return marked(made, control)


def marked(made: LogBatch, control: int) -> LogBatch:
    """The batch turned into a marker by coordinator epoch 3 (Kafka's ``EndTransactionMarker``)."""
    (record,) = made.records
    key, value = (0).to_bytes(2, "big") + control.to_bytes(2, "big"), (0).to_bytes(2, "big") + (3).to_bytes(4, "big")
    return replace(made, attributes=0x30, base_sequence=-1, records=(replace(record, key=key, value=value),))


@pytest.fixture
def history_journal(tmp_path: Path) -> Iterator[HistoryJournal]:
    """A history of the test's own."""
    made = HistoryJournal(tmp_path)
    yield made
    made.close()


LOG = (batch(0, "1/0/2/a", "1/1/2/b", sequence=4), batch(2, control=1), batch(3, "x", producer=8), batch(4, control=0))


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
