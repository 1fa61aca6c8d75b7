"""The pipelining producer against brokers that answer by a script: what is sent together, and what comes of it."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.clients.operation_rows import OperationRows
from harness.clients.pipelined.pipelined_producer import PipelinedProducer, ProducerHabits
from harness.clients.pipelined.pipelined_retry import PipelinedRetry
from harness.clients.pipelined.recorded_producer import RecordedProducer
from harness.clients.pipelined.shared_connections import SharedConnections
from harness.clients.pipelined.shared_routes import SharedRoutes
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import Outcome
from harness.kafka.producer_state import ProducerState
from harness.kafka.transaction_protocol import V1, V2, TransactionProtocol
from harness.wire.records.record_batch import read_log
from harness.wire.requests.log.produce import Produce, ProduceResult
from harness.wire.topic_partitions import TopicPartition, partition_name
from harness.wire.wire_errors import NoAnswer
from suites.selfcheck.clients.test_wire_clients import SILENCE, Scripted

T = TypeVar("T")
ORDER = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER


@dataclass(slots=True)
class ScriptedLeaders:
    """Leaders that check sequences; the errors of a script come first, one a Produce.

    :param most: The most Produce requests that were in flight together.
    """

    script: list[int | None] = field(default_factory=list)
    brokers: Scripted = field(default_factory=Scripted)
    addresses: dict[int, Address] = field(default_factory=lambda: dict.fromkeys((1, 2, 3), Address("h", 1)))
    nodes: tuple[int, ...] = (1, 2, 3)
    expected: dict[TopicPartition, int] = field(default_factory=dict)
    produced: list[Produce] = field(default_factory=list)
    in_flight: int = 0
    most: int = 0

    async def ask(self, node: int, request: Any, timeout_seconds: float) -> Any:
        if request.api != "Produce":
            await asyncio.sleep(0)
            return self.brokers.ask(node, request, timeout_seconds)
        return await self._produce(request)

    async def _produce(self, request: Produce) -> ProduceResult:
        self.produced.append(request)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        error = self.script.pop(0) if self.script else 0
        try:
            await asyncio.sleep(0.002)
        finally:
            self.in_flight -= 1
        if error is SILENCE:
            raise NoAnswer("no answer")
        answers = {partition_name(part.topic, part.partition): self._appended(part, error) for part in request.batches}
        first = next((each["error"] for each in answers.values() if each["error"]), 0)
        return ProduceResult(
            error=first, error_message=None, base_offset=-1, log_start_offset=0, partitions=cast(Any, answers)
        )

    def _appended(self, part: Any, error: int) -> dict[str, int]:
        place, sequence = (part.topic, part.partition), part.batch.base_sequence
        expected = self.expected.get(place, sequence if sequence == 0 else 0)
        if not error and sequence != expected:
            error = ORDER
        if not error:
            self.expected[place] = sequence + len(part.batch.values)
        return {"error": error, "base_offset": -1 if error else 100 + sequence}


@dataclass(slots=True)
class PipelinedTrial:
    """A recorded producer in a transaction, and its brokers."""

    recorded: RecordedProducer
    leaders: ScriptedLeaders
    folder: Path

    def rows(self, verb: str) -> list[dict[str, Any]]:
        lines = (self.folder / "operations.jsonl").read_text().splitlines()
        return [row for line in lines if (row := json.loads(line))["verb"] == verb]


def played(
    folder: Path,
    play: Callable[[PipelinedTrial], Coroutine[Any, Any, T]],
    *script: int | None,
    protocol: TransactionProtocol = V2,
    adding: list[int | None] | None = None,
    **habits: Any,
) -> tuple[PipelinedTrial, T]:
    """The play, in an event loop, after ``init`` and ``begin``."""

    async def run() -> tuple[PipelinedTrial, T]:
        leaders = ScriptedLeaders(list(script))
        leaders.brokers.bumps_epoch = protocol.bumps_epoch
        connections = cast(SharedConnections, leaders)
        clock, history_journal = RunClock(), HistoryJournal(folder)
        producer = PipelinedProducer(
            state=ProducerState(transactional_id="id", protocol=protocol),
            retry=PipelinedRetry(connections, SharedRoutes(connections)),
            habits=ProducerHabits(**{"request_ms": 30_000, **habits}),
            now=clock.now,
        )
        rows = OperationRows(actor="a", client="wire-v2", protocol=protocol.name, transactional_id="id")
        recorded = RecordedProducer(producer=producer, rows=rows, clock=clock, history_journal=history_journal)
        trial = PipelinedTrial(recorded, leaders, folder)
        try:
            assert await recorded.init()
            if adding:
                leaders.brokers.script["AddPartitionsToTxn"] = adding
            return trial, await play(trial)
        finally:
            history_journal.close()

    return asyncio.run(run())


def written(count: int, partitions: int = 1) -> Callable[[PipelinedTrial], Coroutine[Any, Any, bool]]:
    """Records in one transaction, which is then ended as it has to be."""

    async def play(trial: PipelinedTrial) -> bool:
        trial.recorded.begin(1, count)
        whole = await trial.recorded.write([(("t", each % partitions), "x") for each in range(count)])
        await trial.recorded.end(commit=whole)
        return whole

    return play


def test_records_go_in_batches_with_several_requests_in_flight_and_no_more(tmp_path: Path) -> None:
    trial, whole = played(tmp_path, written(16), in_flight=5, batch_records=2)
    assert whole
    assert trial.leaders.most == 5
    assert [part.batch.base_sequence for one in trial.leaders.produced for part in one.batches] == list(range(0, 16, 2))
    rows = trial.rows("produce")
    assert [(row["ordinal"], row["offset"], row["outcome"], row["tries"]) for row in rows] == [
        (each, 100 + each, "done", 1) for each in range(16)
    ]
    (commit,) = trial.rows("commit")
    assert commit["started"] >= max(row["ended"] for row in rows)
    assert commit["outcome"] == "done"


def test_several_partitions_go_in_one_produce(tmp_path: Path) -> None:
    trial, whole = played(tmp_path, written(4, partitions=2))
    assert whole
    (one,) = trial.leaders.produced
    assert [(part.partition, len(part.batch.values)) for part in one.batches] == [(0, 2), (1, 2)]


def test_one_in_flight_is_one_after_the_other(tmp_path: Path) -> None:
    trial, whole = played(tmp_path, written(4), in_flight=1, batch_records=1)
    assert (whole, trial.leaders.most, len(trial.leaders.produced)) == (True, 1, 4)


@pytest.mark.parametrize("first", [SILENCE, KafkaError.NOT_ENOUGH_REPLICAS], ids=["silence", "refused for now"])
def test_what_was_in_flight_behind_a_failure_is_sent_again_in_order(tmp_path: Path, first: int | None) -> None:
    trial, whole = played(tmp_path, written(6), first, batch_records=2)
    assert whole
    sent = [part.batch.base_sequence for one in trial.leaders.produced for part in one.batches]
    assert sent == [0, 2, 4, 0, 2, 4]
    assert {row["tries"] for row in trial.rows("produce")} == {2}


def test_a_fenced_producer_is_refused_and_what_was_not_sent_is_told_as_such(tmp_path: Path) -> None:
    trial, whole = played(tmp_path, written(4), KafkaError.INVALID_PRODUCER_EPOCH, in_flight=1, batch_records=2)
    assert not whole
    rows = trial.rows("produce")
    assert [row["outcome"] for row in rows] == ["refused"] * 4
    assert [row["tries"] for row in rows] == [1, 1, 0, 0]
    assert "was never sent" in rows[3]["reason"]
    assert len(trial.rows("abort")) == 1


def test_silence_until_the_bound_is_unsure_for_every_record_in_flight(tmp_path: Path) -> None:
    trial, whole = played(tmp_path, written(4), *[SILENCE] * 100_000, request_ms=100, batch_records=2)
    assert not whole
    assert {row["outcome"] for row in trial.rows("produce")} == {Outcome.UNSURE.value}


def test_transactions_v1_add_all_partitions_at_once_before_anything_is_written(tmp_path: Path) -> None:
    trial, whole = played(tmp_path, written(4, partitions=2), protocol=V1)
    assert whole
    (added,) = trial.leaders.brokers.of("AddPartitionsToTxn")
    assert added.partitions == (("t", 0), ("t", 1))
    assert [row["tries"] for row in trial.rows("produce")] == [2, 2, 2, 2]


def test_records_whose_partitions_could_not_be_added_were_never_sent(tmp_path: Path) -> None:
    refused: list[int | None] = [KafkaError.PRODUCER_FENCED]
    trial, whole = played(tmp_path, written(2, partitions=2), protocol=V1, adding=refused)
    assert not whole
    assert trial.leaders.produced == []
    assert [(row["outcome"], row["error"], row["tries"]) for row in trial.rows("produce")] == [("refused", 90, 1)] * 2


def test_compressed_batches_carry_the_same_records(tmp_path: Path) -> None:
    trial, whole = played(tmp_path, written(3), compression="gzip")
    assert whole
    (part,) = trial.leaders.produced[0].batches
    (batch,) = read_log(part.batch.encode())
    assert batch.attributes & 0x07 == 1
    assert [record.value for record in batch.records] == [f"1/{each}/3/x".encode() for each in range(3)]
