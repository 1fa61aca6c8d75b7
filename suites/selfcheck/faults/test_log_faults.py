"""Faults of logs, on a cluster that is made up: what is asked for, and what counts as struck."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError
from harness.base.unprepared import Unprepared
from harness.faults.fault_target import FaultTarget
from harness.faults.observer import observer_lane
from harness.faults.toxic import ClusterShape, DeletingToxic, StrikeCount
from harness.kafka.leader_client import Unreachable
from harness.wire.records.transaction_state import TOPIC as STATE
from harness.wire.requests.log.delete_records import DeleteRecords, DeleteRecordsResult
from suites.selfcheck.faults.test_fault_target import Kafka, led
from suites.selfcheck.faults.test_fault_target import fault_target as of_kafka
from toxics.coordinator import expire_ids, move_replicas, reload_compacted, trim_log

SHAPE = ClusterShape(topics={"t": 1}, transactional_ids=("a", "b", "c"))


@dataclass
class TrimmedLog:
    """A partition whose records can be deleted; :param refused: What the leader answers instead."""

    begin: int = 10
    end: int = 110
    refused: int = 0
    closed: int = 0
    offsets: list[int] = field(default_factory=list)

    def at_leader(self, _place: object, request: DeleteRecords, *, timeout_seconds: float) -> DeleteRecordsResult:  # noqa: ARG002
        self.offsets.append(request.offset)
        self.begin = self.begin if self.refused else request.offset
        return DeleteRecordsResult(error=self.refused, error_message=None, low_watermark=self.begin)

    def close(self) -> None:
        self.closed += 1


def deleting(log: TrimmedLog, percent: int, monkeypatch: pytest.MonkeyPatch) -> AbstractContextManager[StrikeCount]:
    monkeypatch.setattr(observer_lane, "LeaderClient", SimpleNamespace(over=lambda *_, **__: log))
    ends = SimpleNamespace(log_start_offset=log.begin, high_watermark=log.end)
    monkeypatch.setattr(trim_log, "partition_end", lambda *_: ends)
    chosen: dict[str, Json] = {"topic": "t", "partition": 0, "percent": percent}
    return trim_log.TOXIC.strike(target(), chosen)


def target() -> FaultTarget:
    """What the toxics ask of a target beside brokers."""
    topology = SimpleNamespace(lanes={"observer": {}}, secured=lambda _lane: None)
    return cast(
        FaultTarget,
        SimpleNamespace(
            cluster=SimpleNamespace(topology=topology),
            clock=None,
            topics={"t": "r1-t"},
            transactional_ids={"a": "r1-a", "b": "r1-b", "c": "r1-c"},
            state_partition=lambda _id: (STATE, 3),
        ),
    )


@pytest.mark.parametrize(("percent", "offset"), [(100, 110), (25, 35)])
def test_records_are_deleted_up_to_the_drawn_share(percent: int, offset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    log = TrimmedLog()
    with deleting(log, percent, monkeypatch) as strikes:
        assert (log.offsets, log.closed) == ([offset], 1)
    assert (strikes.where, strikes.struck) == ("r1-t-0", offset - 10)


def test_of_an_empty_log_nothing_is_deleted_and_that_is_no_strike(monkeypatch: pytest.MonkeyPatch) -> None:
    with deleting(TrimmedLog(begin=110), 100, monkeypatch) as strikes:
        assert strikes.struck == 0


def test_a_refused_deletion_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    log = TrimmedLog(refused=KafkaError.POLICY_VIOLATION)
    with pytest.raises(Unprepared, match="POLICY_VIOLATION"):
        deleting(log, 100, monkeypatch).__enter__()
    assert log.closed == 1


def test_readers_are_told_that_records_may_be_deleted() -> None:
    assert isinstance(trim_log.TOXIC, DeletingToxic)
    assert not isinstance(move_replicas.TOXIC, DeletingToxic)


def test_a_partition_is_led_by_a_replica_that_had_nothing_and_gets_its_order_back() -> None:
    kafka = Kafka(partitions={"t": {0: led(2, replicas=(2, 3, 1))}}, copies=True)
    with move_replicas.TOXIC.strike(of_kafka(kafka), {"topic": "t", "partition": 0}) as strikes:
        assert (kafka.partitions["t"][0]["leader"], kafka.partitions["t"][0]["replicas"]) == (3, [3, 1])
    orders = [next(iter(cast(dict[Any, Any], order).values())) for order in kafka.requests]
    assert orders == [(2, 1), (3, 1), (2, 3, 1)]
    assert (strikes.struck, strikes.how.rpartition(": ")[2]) == (1, "2 → 3")


def test_a_partition_without_a_leader_or_with_two_replicas_is_left_alone() -> None:
    for lacking in (led(-1), led(1, replicas=(1, 2), isr=(1, 2))):
        kafka = Kafka(partitions={"t": {0: lacking}})
        with pytest.raises(Unprepared, match="no leader, or too few replicas"):
            move_replicas.TOXIC.strike(of_kafka(kafka), {"topic": "t", "partition": 0}).__enter__()
        assert kafka.requests == []


def test_replicas_of_data_and_of_coordinators_are_moved() -> None:
    drawn = [move_replicas.TOXIC.draw(SHAPE, Random(seed)) for seed in range(20)]
    assert {frozenset(each) for each in drawn} == {frozenset({"transactional_id"}), frozenset({"topic", "partition"})}


@pytest.mark.parametrize(("lacking", "struck"), [(63, 1), (0, 0)])
def test_a_coordinator_that_loads_counts_where_its_log_was_compacted(
    lacking: int, struck: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kafka = Kafka(partitions={STATE: {index: led(2) for index in range(5)}})
    monkeypatch.setattr(reload_compacted, "_compacted", lambda *_: (lacking, 73))
    monkeypatch.setattr(reload_compacted, "COMPACTED_SECONDS", 0)
    with reload_compacted.TOXIC.strike(of_kafka(kafka), {"transactional_id": "teller", "rank": 0}) as strikes:
        assert strikes.struck == struck
    assert strikes.how.endswith(f"which loaded a log that lacked {lacking} of 73 records")


@dataclass
class RememberedIds:
    """Of ids with their producer ids; None is an id whose coordinator does not answer."""

    producer_ids: dict[str, int | None]

    def at_coordinator(self, key: str, _request: object, *, timeout_seconds: float) -> Any:  # noqa: ARG002
        known = self.producer_ids.get(key, -1)
        if known is None:
            raise Unreachable("silence")
        error = KafkaError.TRANSACTIONAL_ID_NOT_FOUND if known < 0 else KafkaError.NONE
        return SimpleNamespace(error=error, producer_id=known)

    def close(self) -> None: ...


def test_ids_that_are_unknown_or_have_another_producer_id_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    known = RememberedIds({"r1-a": 7, "r1-b": 8, "r1-c": 9})
    monkeypatch.setattr(observer_lane, "LeaderClient", SimpleNamespace(over=lambda *_, **__: known))
    with expire_ids.TOXIC.strike(target(), expire_ids.TOXIC.draw(SHAPE, Random(1))) as strikes:
        known.producer_ids = {"r1-b": 12, "r1-c": 9}
    assert (strikes.struck, strikes.how) == (2, "ids that their coordinators forgot: a, b")


def test_an_id_whose_coordinator_is_silent_or_that_nobody_knew_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    known = RememberedIds({"r1-a": 7, "r1-b": None})
    monkeypatch.setattr(observer_lane, "LeaderClient", SimpleNamespace(over=lambda *_, **__: known))
    with expire_ids.TOXIC.strike(target(), expire_ids.TOXIC.draw(SHAPE, Random(1))) as strikes:
        known.producer_ids = {"r1-a": None, "r1-b": None, "r1-c": 3}
    assert strikes.struck == 0
