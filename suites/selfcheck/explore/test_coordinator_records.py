"""What coordinators write into their log: what the model says, what is read, and that every doctored record differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from msgspec import structs

from harness.base.kafka_error import KafkaError
from harness.base.unprepared import Unprepared
from harness.explore.cell_results import CellSeen
from harness.explore.comparison import compare_records
from harness.explore.looks.record_look import RecordLook
from harness.explore.looks.stale_route import StaleRoute
from harness.model.coordinator_log import CoordinatorRecord, records_of
from harness.model.events.model_event import (
    CoordinatorMoves,
    EpochsUsedUp,
    MarkersWait,
    ModelStep,
    TimeoutPasses,
    after_path,
)
from harness.model.grid import GridCell
from harness.model.model_requests import AddPartitionsAsked, DescribeTransactionAsked, EndTxnAsked, ModelAnswer
from harness.model.model_requests import InitProducerIdAsked as Init
from harness.model.model_state import LAST_EPOCH, fresh_cluster
from harness.model.protocol_profile import NEWEST, OLD_PROTOCOL, ProtocolProfile
from harness.wire.records.record_batch import LogBatch, Record
from harness.wire.records.transaction_state import TOPIC, NewState, TransactionState
from harness.wire.requests.log.fetch import Fetch, FetchResult
from harness.wire.requests.log.list_offsets import ListOffsetsResult
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import NoAnswer
from suites.selfcheck.explore.test_cell_runs import COMMIT, INIT, LOOK, WRITE, batch, committed
from suites.selfcheck.fixtures.fake_kafka import ToldAtOnce

LOOKED_AT = DescribeTransactionAsked(id="own", version=0)


def cell(*path: ModelStep, asked: Any = LOOKED_AT, profile: ProtocolProfile = NEWEST) -> GridCell:
    before = after_path(fresh_cluster("A", "B"), path, profile)
    return GridCell(path=path, before=before, asked=asked, state="", request="")


def written(*path: ModelStep, asked: Any = LOOKED_AT, profile: ProtocolProfile = NEWEST) -> Sequence[CoordinatorRecord]:
    return records_of(cell(*path, asked=asked, profile=profile), profile).get("own", ())


def states(records: Sequence[CoordinatorRecord]) -> list[tuple[str, int]]:
    return [(each.state, each.epoch) for each in records]


WHOLE = [("Empty", 0), ("Ongoing", 0), ("PrepareCommit", 1), ("CompleteCommit", 1)]


def test_each_state_of_a_transaction_is_written() -> None:
    records = written(INIT, WRITE, asked=COMMIT)
    assert states(records) == WHOLE
    assert [each.partitions for each in records] == [frozenset(), {"A"}, {"A"}, frozenset()]
    assert [each.client_version for each in records] == [0, 2, 2, 2]
    assert {(each.layout, each.previous_id, each.next_id) for each in records} == {(1, 0, -1)}
    assert states(written(INIT, WRITE, COMMIT)) == WHOLE, "also where it was the path that ended it"


def test_an_old_cluster_writes_no_tagged_fields_and_keeps_the_epoch() -> None:
    add = AddPartitionsAsked(id="own", version=3, producer_id=0, epoch=0, partitions=frozenset("A"))
    old_commit = structs.replace(COMMIT, version=3)
    records = written(INIT, add, asked=old_commit, profile=OLD_PROTOCOL)
    assert states(records) == [(state, 0) for state, _ in WHOLE]
    assert {(each.layout, each.previous_id, each.client_version) for each in records} == {(0, -1, 0)}


@pytest.mark.parametrize(("version", "client"), [(3, 0), (4, 2), (5, 2)])
def test_a_client_that_adds_is_new_from_the_version_of_leaders_on(version: int, client: int) -> None:
    add = AddPartitionsAsked(id="own", version=version, producer_id=0, epoch=0, partitions=frozenset("A"))
    assert written(INIT, asked=add)[-1].client_version == client


def test_what_a_coordinator_ends_by_itself_is_written_too() -> None:
    aborted = [*WHOLE[:2], ("PrepareAbort", 1), ("CompleteAbort", 1)]
    assert states(written(INIT, WRITE, TimeoutPasses("own"))) == aborted
    assert states(written(INIT, WRITE, asked=Init(id="own", version=4))) == aborted
    assert states(written(INIT, WRITE, MarkersWait(), COMMIT, CoordinatorMoves())) == WHOLE


def test_a_repeated_initialisation_says_nothing_new() -> None:
    again = Init(id="own", version=4, producer_id=0, epoch=0)
    assert written(INIT, again, asked=again) == written(INIT, again)


def test_the_producer_id_behind_the_last_epoch_is_named_until_it_is_reached() -> None:
    last = LAST_EPOCH - 1
    write, commit = structs.replace(WRITE, epoch=last), structs.replace(COMMIT, epoch=last)
    records = written(INIT, EpochsUsedUp("own", left=0), write, asked=commit)
    assert [(each.state, each.producer_id, each.epoch, each.previous_id, each.next_id) for each in records] == [
        ("Empty", 0, 0, 0, -1),
        ("Empty", 0, last, -1, -1),
        ("Ongoing", 0, last, 0, -1),
        ("PrepareCommit", 0, LAST_EPOCH, 0, 1),
        ("CompleteCommit", 1, 0, 0, -1),
    ]
    assert records[1].layout == 0, "written by the exploration, as every release reads it"


def test_a_record_of_somebody_else_is_not_written_again_in_the_layout_of_coordinators() -> None:
    used_up = EpochsUsedUp("own", left=0)
    assert written(INIT, used_up) == written(INIT, used_up, asked=structs.replace(COMMIT, epoch=9))
    assert [each.layout for each in written(INIT, used_up)] == [1, 0]


def test_an_unknown_id_has_no_records() -> None:
    assert written(asked=LOOKED_AT) == ()


def altered(index: int, **changed: Any) -> Sequence[CoordinatorRecord]:
    records = list(written(INIT, WRITE, asked=COMMIT))
    records[index] = replace(records[index], **changed)
    return tuple(records)


TRUE = written(INIT, WRITE, asked=COMMIT)
DOCTORED: Mapping[str, Sequence[CoordinatorRecord]] = {
    "no tagged fields": altered(0, layout=0, previous_id=-1),
    "another state": altered(3, state="CompleteAbort"),
    "another producer id": altered(1, producer_id=1),
    "the epoch before": altered(2, epoch=0),
    "another timeout": altered(1, timeout_ms=7),
    "a commit without partitions": altered(2, partitions=frozenset()),
    "partitions left behind": altered(3, partitions=frozenset("A")),
    "another producer id before": altered(1, previous_id=1),
    "a producer id that does not follow": altered(3, next_id=1),
    "an unknown client": altered(2, client_version=0),
    "a tombstone": (*TRUE, CoordinatorRecord(layout=-1, state="Gone", producer_id=-1, epoch=-1)),
    "no end": TRUE[:-1],
    "nothing": (),
}


def seen(records: Sequence[CoordinatorRecord]) -> CellSeen:
    return CellSeen(answer=ModelAnswer(), ids={}, logs={}, records={"own": tuple(records)})


@pytest.mark.parametrize("name", DOCTORED)
def test_doctored_records_differ(name: str) -> None:
    expected = records_of(cell(INIT, WRITE, asked=COMMIT), NEWEST)
    assert compare_records(expected, seen(TRUE)) == ()
    (difference,) = compare_records(expected, seen(DOCTORED[name]))
    assert difference.part == "records of own"
    assert difference.expected != difference.seen


def test_what_was_not_looked_at_does_not_differ() -> None:
    assert compare_records({"own": tuple(TRUE)}, replace(seen(()), records=None)) == ()


def state(offset: int, name: str, **given: Any) -> TransactionState:
    given = {"timeout_ms": 600_000, "previous_producer_id": 7000, "client_transaction_version": 2, **given}
    return TransactionState(transactional_id="x", offset=offset, version=1, state=name, producer_id=7000, **given)


def test_a_cell_that_agrees_in_all_else_differs_by_its_records() -> None:
    read = [
        state(0, "Empty", producer_epoch=0, client_transaction_version=0),
        state(1, "Empty", producer_epoch=0, client_transaction_version=0),
        state(2, "Ongoing", producer_epoch=0, partitions=["t-0"]),
        state(3, "PrepareCommit", producer_epoch=1, partitions=["t-0"]),
        state(4, "CompleteCommit", producer_epoch=1),
    ]
    for records, parts in ((read, []), ([*read[:3], *read[4:]], ["records of own"])):
        run = committed()
        found = run.seen(replace(LOOK, records={"x": records}))
        assert found is not None
        assert [each.part for each in run.compared(found)] == parts


@dataclass(slots=True)
class FakeStateLog:
    """Two partitions of the topic, led by broker 1, each with an end of its own and with batches behind it."""

    batches: dict[int, list[LogBatch]] = field(default_factory=lambda: {0: [], 1: []})
    error: int = 0
    fetch_error: int = 0
    hides: bool = False
    fetched: list[tuple[int, int]] = field(default_factory=list)

    def highest(self, _node: int, _api: str, cap: int | None = None) -> int:
        return cap or 7

    def send(self, _node: int, request: Any, _version: int) -> ToldAtOnce:
        if self.error < 0:
            raise NoAnswer("gone")
        end = len(self.batches[request.partition])
        return ToldAtOnce(
            ListOffsetsResult(error=self.error, error_message=None, offset=end, timestamp_ms=-1, leader_epoch=-1)
        )

    def call(self, _node: int, request: Fetch, _version: int) -> ToldAtOnce:
        self.fetched.append((request.partition, request.offset))
        left = self.batches[request.partition]
        some = () if self.hides else tuple(left[request.offset : request.offset + 2])
        return ToldAtOnce(
            FetchResult(
                error=self.fetch_error,
                error_message=None,
                high_watermark=len(left),
                last_stable_offset=len(left),
                log_start_offset=0,
                aborted=(),
                batches=some,
                next_offset=request.offset + len(some),
            )
        )

    def write(self, partition: int, *names: str) -> None:
        for name in names:
            new, at = NewState(name, 7, 0, 600), len(self.batches[partition])
            record = Record(offset=at, timestamp_ms=0, key=new.key, value=new.value)
            self.batches[partition].append(replace(batch(at, epoch=-1), attributes=0, records=(record,)))


LEADERS = {(TOPIC, 0): 1, (TOPIC, 1): 1}
UNREADABLE: list[str] = []


def look(log: FakeStateLog) -> RecordLook:
    begun = RecordLook.begun(cast(WireClient, log), LEADERS, UNREADABLE.append)
    assert begun is not None
    return begun


def names(read: Mapping[str, Sequence[TransactionState]] | None) -> dict[str, list[int]]:
    assert read is not None
    return {name: [each.offset for each in records] for name, records in read.items()}


def test_a_look_goes_on_where_the_one_before_ended_and_keeps_what_it_is_asked_for() -> None:
    log = FakeStateLog()
    log.write(0, "before", "x")
    begun = look(log)
    log.write(0, "x", "other", "x")
    assert names(begun.of(["x", "y"], LEADERS)) == {"x": [2, 4], "y": []}
    log.write(1, "y")
    assert names(begun.of(["x", "y"], LEADERS)) == {"x": [2, 4], "y": [0]}
    log.write(1, "y", "z")
    assert names(begun.of(["z"], LEADERS)) == {"z": [2]}
    assert log.fetched == [(0, 2), (0, 4), (1, 0), (1, 1)], "each record once"


def test_records_of_a_form_that_is_not_known_are_told_once_and_not_compared() -> None:
    log, told = FakeStateLog(), list[str]()
    begun = RecordLook.begun(cast(WireClient, log), LEADERS, told.append)
    assert begun is not None
    log.write(0, "x")
    (record,) = log.batches[0][0].records
    later = replace(record, value=b"\0\2" + (record.value or b"")[2:])
    log.batches[0][0] = replace(log.batches[0][0], records=(later,))
    assert begun.of(["x"], LEADERS) is None
    assert begun.of(["x"], LEADERS) is None
    assert told == ["a transaction state has version 2; only 0 and 1 are known"]


@pytest.mark.parametrize("error", [KafkaError.TOPIC_AUTHORIZATION_FAILED, -1])
def test_a_log_that_is_not_shown_is_not_looked_at(error: int) -> None:
    assert RecordLook.begun(cast(WireClient, FakeStateLog(error=error)), LEADERS, UNREADABLE.append) is None
    assert RecordLook.begun(cast(WireClient, FakeStateLog()), {}, UNREADABLE.append) is None


def test_a_look_asks_again_who_leads_and_does_not_take_an_error_for_nothing() -> None:
    log = FakeStateLog()
    begun = look(log)
    log.write(0, "x")
    for error, kind in ((KafkaError.NOT_LEADER_OR_FOLLOWER, StaleRoute), (KafkaError.OFFSET_OUT_OF_RANGE, Unprepared)):
        log.fetch_error = error
        with pytest.raises(kind):
            begun.of(["x"], LEADERS)
    log.fetch_error, log.hides = 0, True
    with pytest.raises(Unprepared, match=f"{TOPIC}-0 shows nothing from 0 on"):
        begun.of(["x"], LEADERS)
    log.hides = False
    assert names(begun.of(["x"], LEADERS)) == {"x": [0]}


def test_an_end_that_is_refused_writes_nothing() -> None:
    wrong = EndTxnAsked(id="own", version=5, producer_id=0, epoch=9, commit=True)
    assert states(written(INIT, WRITE, asked=wrong)) == WHOLE[:2]
