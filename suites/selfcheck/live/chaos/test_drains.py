"""Drains, readers, levels and settling on a real cluster: every table has exactly what happened.

Needs Java, and once Maven and Go. Starts a cluster of its own.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.base import wait
from harness.chaos.observe.coordinator_probe import probe
from harness.chaos.observe.drain import Drained, Scope, drain
from harness.chaos.observe.settle import settle
from harness.chaos.observe.watermark_sampler import sampling
from harness.clients.client import ClientOptions
from harness.clients.recording_client import RecordingClient
from harness.clients.wire.wire_adapter import ADAPTERS
from harness.cluster.cluster import Kill
from harness.evidence.history.history_journal import TABLES, HistoryJournal
from harness.evidence.json_codec import from_json
from harness.lab.lab import Lab
from harness.lab.partition import Partition
from harness.lab.producer import Producer
from harness.wire.records.transaction_state import TOPIC as TRANSACTION_STATE
from suites.selfcheck.live.chaos.drain_environment import DrainEnvironment, transact

pytest_plugins = ("suites.selfcheck.live.chaos.drain_environment",)
pytestmark = pytest.mark.live

HOMES = 6
"""``transaction.state.log.num.partitions`` of our clusters."""


@pytest.fixture
def history_journal(tmp_path: Path) -> Iterator[HistoryJournal]:
    """A history of the test's own."""
    made = HistoryJournal(tmp_path / "history")
    yield made
    made.close()


def rows(history_journal: HistoryJournal, table: str) -> list[dict[str, object]]:
    """A table as plain rows; each is read back strictly."""
    lines = (history_journal.folder / f"{table}.jsonl").read_text().splitlines()
    for line in lines:
        from_json(TABLES[table], line)
    return [json.loads(line) for line in lines]


def columns_of(found: Sequence[dict[str, object]], *columns: str) -> list[tuple[object, ...]]:
    """These columns of every row."""
    return [tuple(row[column] for column in columns) for row in found]


def drained(environment: DrainEnvironment, scope: Scope, history_journal: HistoryJournal) -> Drained:
    """A drain that waits for a stuck reader no longer than a busy machine needs for a first answer."""
    return drain(scope, history_journal, environment.clock, timeout_seconds=5.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainSample:
    """Two partitions with a transaction that committed on both, one aborted, one committed, and one still open."""

    first: Partition
    second: Partition
    writer: Producer
    idler: Producer

    @property
    def both(self) -> list[Partition]:
        """The partitions."""
        return [self.first, self.second]


def drain_sample(lab: Lab) -> DrainSample:
    """The drain_sample, on fresh partitions."""
    first, second = lab.partition("P1", replicas=3), lab.partition("P2", replicas=3)
    writer, idler = lab.producer(), lab.producer()
    transact(writer, 1, [first, second], commit=True)
    transact(writer, 2, [first], commit=False)
    transact(writer, 3, [second], commit=True)
    lab.completed(first, second)
    idler.add(first)
    idler.produce(first, values=("4/0/2/open", "4/1/2/open"))
    return DrainSample(first=first, second=second, writer=writer, idler=idler)


def test_a_drain_has_every_record_of_the_log_with_its_markers(
    environment: DrainEnvironment, history_journal: HistoryJournal
) -> None:
    sample = drain_sample(environment.lab)
    result = drained(environment, environment.scope(sample.both), history_journal)
    assert result.high_watermarks == {sample.first.topic_partition: 6, sample.second.topic_partition: 4}
    assert result.notes == []
    writer_id, idler_id = sample.writer.producer_id, sample.idler.producer_id
    topic, other = sample.first.topic, sample.second.topic
    log = rows(history_journal, "log")
    assert columns_of(log, "topic", "offset", "batch_offset", "producer_id", "sequence", "control", "value") == [
        (topic, 0, 0, writer_id, 0, None, "1/0/2/x"),
        (topic, 1, 1, writer_id, -1, "COMMIT", None),
        (topic, 2, 2, writer_id, 1, None, "2/0/1/x"),
        (topic, 3, 3, writer_id, -1, "ABORT", None),
        (topic, 4, 4, idler_id, 0, None, "4/0/2/open"),
        (topic, 5, 4, idler_id, 1, None, "4/1/2/open"),
        (other, 0, 0, writer_id, 0, None, "1/1/2/x"),
        (other, 1, 1, writer_id, -1, "COMMIT", None),
        (other, 2, 2, writer_id, 1, None, "3/0/1/x"),
        (other, 3, 3, writer_id, -1, "COMMIT", None),
    ]
    assert all(row["transactional"] and row["timestamp_ms"] for row in log)


def test_a_drain_has_what_brokers_keep(environment: DrainEnvironment, history_journal: HistoryJournal) -> None:
    sample = drain_sample(environment.lab)
    environment.lab.reached(sample.writer, "CompleteCommit", as_="writer")
    drained(
        environment, environment.scope(sample.both, sample.writer, sample.idler, groups=["nobody"]), history_journal
    )
    writer_id, idler_id = sample.writer.producer_id, sample.idler.producer_id
    topic, other = sample.first.topic, sample.second.topic
    columns = ("topic", "high_watermark", "last_stable_offset")
    assert columns_of(rows(history_journal, "partitions"), *columns) == [(topic, 6, 4), (other, 4, 4)]
    assert columns_of(rows(history_journal, "levels"), *columns) == [(topic, 6, 4), (other, 4, 4)]
    producers = columns_of(rows(history_journal, "producers"), "topic", "producer_id", "transaction_start_offset")
    expected = [(topic, writer_id, -1), (topic, idler_id, 4), (other, writer_id, -1)]
    assert sorted(producers) == sorted(expected)  # a leader gives its producers in no order
    assert columns_of(
        rows(history_journal, "transactions"), "transactional_id", "state", "producer_id", "partitions"
    ) == [
        (sample.writer.transactional_id, "CompleteCommit", writer_id, ""),
        (sample.idler.transactional_id, "Ongoing", idler_id, str(sample.first)),
    ]
    kept = rows(history_journal, "transactions")
    assert columns_of(kept, "listed") == [(f"CompleteCommit {writer_id}",), (f"Ongoing {idler_id}",)]
    recorded = [str(row["recorded"]).split() for row in kept]
    assert [(state, int(producer_id)) for state, producer_id, *_ in recorded] == [
        ("CompleteCommit", writer_id),
        ("Ongoing", idler_id),
    ]
    assert recorded[0][2:] == [str(kept[0][name]) for name in ("epoch", "timeout_ms")] + [
        "-1",
        str(kept[0]["started_ms"]),
    ]
    assert columns_of(rows(history_journal, "offsets"), "group", "topic", "offset") == [
        ("nobody", t, -1) for t in (topic, other)
    ]


def test_readers_see_what_is_committed_and_end_below_what_is_open(
    environment: DrainEnvironment, history_journal: HistoryJournal
) -> None:
    sample = drain_sample(environment.lab)
    drained(environment, environment.scope(sample.both), history_journal)
    topic, other = sample.first.topic, sample.second.topic
    visible = {(topic, 0, "1/0/2/x"), (other, 0, "1/1/2/x"), (other, 2, "3/0/1/x")}
    assert committed_as_seen(history_journal) == {"wire": visible, "librdkafka": visible}
    assert set(columns_of(rows(history_journal, "readers"), "reader", "topic", "end_offset", "wanted")) == {
        (reader, *end) for reader in ("wire", "librdkafka") for end in ((topic, 4, 6), (other, 4, 4))
    }


def test_a_cluster_is_settled_once_no_transaction_is_open(environment: DrainEnvironment) -> None:
    sample = drain_sample(environment.lab)
    await_replicas(environment)
    unmet = {"stable": [str(sample.first)], "no_open_transaction": 1}
    assert unmet_after_settling(environment, sample.both, sample.idler) == unmet
    sample.idler.end(commit=False)
    environment.lab.completed(*sample.both)
    assert unmet_after_settling(environment, sample.both, sample.idler, timeout_seconds=30.0) == {}


def test_a_cluster_is_not_settled_while_one_of_the_round_is_open_without_a_record(
    environment: DrainEnvironment,
) -> None:
    producer, partition = environment.lab.producer(), environment.lab.partition("P9")
    producer.add(partition)
    await_replicas(environment)
    asked = environment.fault_target(), [partition.topic_partition], ["unknown id"]
    facts = settle(*asked, producer.transactional_id, timeout_seconds=1.0)
    assert isinstance(facts["stable"], dict)
    assert facts["stable"]["not_yet"] == []
    assert facts["no_open_transaction"] == {"ms": None, "not_yet": [f"{producer.transactional_id} Ongoing"]}
    producer.end(commit=False)
    environment.lab.completed(partition)
    assert settle(*asked, producer.transactional_id, timeout_seconds=30.0)["settled_ms"] is not None


def await_replicas(environment: DrainEnvironment) -> None:
    """Other tests of the cluster end a broker."""
    wait.until(
        lambda: environment.fault_target().replicated(),
        what="every replica in sync",
        timeout_seconds=30,
        interval_seconds=0.1,
    )


def committed_as_seen(history_journal: HistoryJournal) -> dict[object, set[tuple[object, ...]]]:
    """What each reader read, nothing twice."""
    seen: dict[object, set[tuple[object, ...]]] = {}
    for reader, *record in columns_of(rows(history_journal, "reads"), "reader", "topic", "offset", "value"):
        assert tuple(record) not in seen.setdefault(reader, set())
        seen[reader].add(tuple(record))
    return seen


def unmet_after_settling(
    environment: DrainEnvironment,
    partitions: Sequence[Partition],
    producer: Producer,
    timeout_seconds: float = 1.0,
) -> Mapping[str, object]:
    """Conditions that are unmet after settling, ids of transactions counted."""
    ids = [producer.transactional_id, "unknown id"]
    places = [partition.topic_partition for partition in partitions]
    facts = settle(environment.fault_target(), places, ids, producer.transactional_id, timeout_seconds=timeout_seconds)
    parts = {name: fact["not_yet"] for name, fact in facts.items() if isinstance(fact, dict) and fact["not_yet"]}
    assert (facts["settled_ms"] is None) == bool(parts)
    open_ones = parts.get("no_open_transaction", [])
    assert isinstance(open_ones, list)
    return parts | ({"no_open_transaction": len(open_ones)} if open_ones else {})


def test_levels_are_sampled_also_while_a_broker_is_away(
    environment: DrainEnvironment, history_journal: HistoryJournal
) -> None:
    lab, cluster = environment.lab, environment.cluster
    assert isinstance(cluster, Kill)
    near, far = lab.partition("P3", leader=1), lab.partition("P4", leader=3)
    observer = cluster.topology.lanes["observer"]

    def seen(partition: Partition, after: float) -> bool:
        return any(row["topic"] == partition.topic and row["at"] > after for row in rows(history_journal, "levels"))  # type: ignore[operator]

    with sampling(
        observer, [near.topic_partition, far.topic_partition], history_journal, environment.clock, interval_seconds=0.02
    ):
        wait.until(lambda: seen(near, 0) and seen(far, 0), what="first samples", timeout_seconds=5)
        cluster.kill(3)
        killed = environment.clock.now()
        wait.until(lambda: seen(near, killed + 200), what="samples without broker 3", timeout_seconds=10)
        assert not seen(far, killed)
        cluster.restart(3)
        back = environment.clock.now()
        wait.until(lambda: seen(far, back), what="samples of broker 3 again", timeout_seconds=20)


def test_a_probe_commits_through_every_broker_to_every_partition(
    environment: DrainEnvironment, history_journal: HistoryJournal
) -> None:
    partitions = [environment.lab.partition(alias, leader=leader) for alias, leader in (("P7", 1), ("P8", 3))]
    lane = {node: str(address) for node, address in environment.cluster.topology.lanes["observer"].items()}

    def opened(actor: str, transactional_id: str) -> RecordingClient:
        options = ClientOptions(actor=actor, lane="observer", bootstrap=lane, transactional_id=transactional_id)
        client = ADAPTERS["wire-v2"].open(options)
        return RecordingClient(
            client=client,
            actor=actor,
            transactional_id=transactional_id,
            clock=environment.clock,
            history_journal=history_journal,
        )

    places = [partition.topic_partition for partition in partitions]
    probes: Any = probe(environment.fault_target(), places, opened, prefix="drain-probe", timeout_seconds=20)
    assert [(each["broker"], each["committed"]) for each in probes] == [(1, True), (2, True), (3, True)]
    homes = {environment.fault_target().leader(TRANSACTION_STATE, index) for index in range(HOMES)}
    assert {environment.lab.admin.coordinator(each["transactional_id"]) for each in probes} == homes
    done = [op for op in rows(history_journal, "operations") if op["verb"] == "produce" and op["outcome"] == "done"]
    assert len(done) >= 6
    environment.lab.completed(*partitions)
    seen = {value for partition in partitions for value in environment.lab.observer.log(partition).committed}
    committed = {
        op["txn"] for op in rows(history_journal, "operations") if (op["verb"], op["outcome"]) == ("commit", "done")
    }
    assert seen == {f"{txn}/{ordinal}/2/probe" for txn in committed for ordinal in (0, 1)}
