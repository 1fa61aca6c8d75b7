"""What coordinators describe and list of the same ids, by brokers that are tables of answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.chaos.observe.coordinators_log import CoordinatorsLog
from harness.chaos.observe.kept_transactions import KeptByCoordinators
from harness.chaos.observe.situation_evidence import MachineTime
from harness.evidence.history.operation import KeptTransaction
from harness.kafka.leader_client import LeaderClient, Unreachable
from harness.wire.records.record_batch import LogBatch
from harness.wire.records.transaction_state import NewState, TransactionState
from harness.wire.requests.cluster.metadata import MetadataResult
from harness.wire.requests.log.fetch import Fetch, FetchResult
from harness.wire.requests.log.list_offsets import ListOffsets, ListOffsetsResult
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions, DescribeTransactionsResult
from harness.wire.requests.transactions.list_transactions import (
    ListedTransaction,
    ListTransactions,
    ListTransactionsResult,
)
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import NoAnswer
from suites.selfcheck.fixtures.fake_log_cluster import Broker, batch, leader_client


def description(state: str | None, producer_id: int = 7) -> DescribeTransactionsResult:
    """What a coordinator describes; None: it does not know the id."""
    return DescribeTransactionsResult(
        error=KafkaError.TRANSACTIONAL_ID_NOT_FOUND if state is None else 0,
        error_message=None,
        state=state or "",
        producer_id=producer_id,
        producer_epoch=0,
        timeout_ms=10_000,
        start_time_ms=-1,
        partitions=[],
    )


@dataclass
class TwoCoordinators:
    """Two brokers; each answer is the next of its list, and the last one from then on.

    :param states: In which the id "a" is described; None for one that is not known, an empty text for no answer.
    :param lists: What broker 1 lists; broker 2 lists nothing but what ``other`` has.
    :param unfiltered: Whether they take no notice of a filter by state.
    """

    states: list[str | None]
    lists: list[Sequence[str]]
    other: Sequence[str] = ()
    error: int = 0
    unfiltered: bool = False
    brokers: Sequence[int] = (1, 2)
    asked: list[str] = field(default_factory=list)

    def at_coordinator(
        self, key: str, request: DescribeTransactions, *, timeout_seconds: float
    ) -> DescribeTransactionsResult:
        assert (request.transactional_id, timeout_seconds >= 0) == (key, True)
        self.asked.append(request.api)
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if state == "":
            raise Unreachable("nobody describes a")
        return description(state)

    def at_broker(self, broker: int, request: ListTransactions, *, timeout_seconds: float) -> ListTransactionsResult:
        assert timeout_seconds >= 0
        self.asked.append(f"{request.api} {','.join(request.states)}".strip())
        states = self.other
        if broker == 1:
            states = self.lists.pop(0) if len(self.lists) > 1 and not request.states else self.lists[0]
        shown = [state for state in states if not request.states or self.unfiltered or state in request.states]
        found = [ListedTransaction(transactional_id="a", producer_id=7, state=state) for state in shown]
        return ListTransactionsResult(error=self.error, error_message=None, transactions=found, unknown_states=[])

    def told(self, timeout_seconds: float = 60) -> list[tuple[str, str | None]]:
        """State and list of each id in the history."""
        kept = KeptByCoordinators(leader_client=self)  # type: ignore[arg-type]
        kept.describe("a", timeout_seconds)
        kept.compare(timeout_seconds)
        return [(row.state, row.listed) for row in kept.rows()]


def test_what_is_described_and_listed_alike_is_asked_for_once() -> None:
    brokers = TwoCoordinators(["Empty"], [["Empty"]])
    assert brokers.told() == [("Empty", "Empty 7")]
    lists = ["ListTransactions", "ListTransactions", "ListTransactions Empty", "ListTransactions Empty"]
    assert brokers.asked == ["DescribeTransactions", *lists]


def test_a_state_that_changes_between_both_is_asked_for_again() -> None:
    assert TwoCoordinators(["PrepareCommit", "CompleteCommit"], [["CompleteCommit"]]).told() == [
        ("CompleteCommit", "CompleteCommit 7")
    ]
    assert TwoCoordinators(["Empty"], [[], ["Empty"]]).told() == [("Empty", "Empty 7")]


def test_what_differs_is_asked_for_a_second_time_however_long_the_first_took() -> None:
    assert TwoCoordinators(["Empty"], [[], ["Empty"]]).told(timeout_seconds=0) == [("Empty", "Empty 7")]


def test_an_id_that_expires_between_both_is_not_there() -> None:
    assert TwoCoordinators(["Empty", None], [[]]).told() == []


@pytest.mark.parametrize(
    ("lists", "other", "listed"),
    [
        ([], (), ""),
        (["Ongoing"], (), "Ongoing 7 (nothing by state)"),
        (["Empty"], ["Empty"], "Empty 7,Empty 7"),
    ],
    ids=["by nobody", "otherwise", "by two"],
)
def test_what_stays_different_is_told_as_it_is(lists: Sequence[str], other: Sequence[str], listed: str) -> None:
    brokers = TwoCoordinators(["Empty"], [lists], other)
    assert brokers.told(timeout_seconds=0.06) == [("Empty", listed)]
    assert brokers.asked.count("DescribeTransactions") > 1


def test_a_list_that_takes_no_notice_of_a_filter_differs() -> None:
    brokers = TwoCoordinators(["Empty"], [["CompleteCommit"]], unfiltered=True)
    assert brokers.told(timeout_seconds=0.06) == [("Empty", "CompleteCommit 7")]
    first, second = description("Empty"), description("CompleteAbort")
    kept = KeptByCoordinators(
        leader_client=TwoCoordinators(["Empty", "CompleteAbort"], [["Empty"]], unfiltered=True),  # type: ignore[arg-type]
        described={"a": first, "b": second},
    )
    kept.compare(timeout_seconds=0)
    assert kept.listed == {"a": "Empty 7 (Empty 7,Empty 7 by state)", "b": ""}


def test_of_an_id_that_is_not_described_again_nothing_is_said() -> None:
    assert TwoCoordinators(["Empty", ""], [[]]).told(timeout_seconds=0.06) == [("Empty", None)]


def test_lists_that_are_refused_are_no_lists() -> None:
    with pytest.raises(Unreachable, match="broker 1 answered CLUSTER_AUTHORIZATION_FAILED") as found:
        TwoCoordinators(["Empty"], [["Empty"]], error=KafkaError.CLUSTER_AUTHORIZATION_FAILED).told()
    assert found.value.error == KafkaError.CLUSTER_AUTHORIZATION_FAILED
    kept = KeptByCoordinators(leader_client=None, described={"a": description("Empty")})  # type: ignore[arg-type]
    assert [(row.listed, row.recorded) for row in kept.rows()] == [(None, None)]


def test_one_broker_is_asked_until_it_answers_and_the_last_error_is_told() -> None:
    client: LeaderClient = leader_client(Broker(listed={1: [("a", "Empty")]}))
    result = client.at_broker(1, ListTransactions(states=("Empty",)), timeout_seconds=0)
    assert [each["transactional_id"] for each in result.transactions] == ["a"]
    with pytest.raises(Unreachable, match="COORDINATOR_LOAD_IN_PROGRESS") as found:
        leader_client(Broker(loading=True)).at_broker(1, ListTransactions(), timeout_seconds=0)
    assert found.value.error == KafkaError.COORDINATOR_LOAD_IN_PROGRESS


@dataclass
class WrittenStates:
    """The coordinators' log as a table: the last record of "a", each time that it is read on the next."""

    records: list[TransactionState]
    lacking: str = ""
    last: dict[str, TransactionState] = field(default_factory=dict)
    next_ids: dict[str, int] = field(default_factory=dict)

    def read_on(self) -> None:
        self.last["a"] = self.records.pop(0) if len(self.records) > 1 else self.records[0]


def written(state: str, **more: int) -> TransactionState:
    """A record that fits :func:`description`."""
    given = {"producer_id": 7, "producer_epoch": 0, "timeout_ms": 10_000, **more}
    return TransactionState(transactional_id="a", offset=0, version=1, state=state, **given)  # type: ignore[arg-type]


def recorded(log: WrittenStates, timeout_seconds: float = 60) -> str | None:
    """What the history has of the last record."""
    return kept(log, timeout_seconds).recorded


def kept(log: WrittenStates, timeout_seconds: float = 60) -> KeptTransaction:
    """What the history has of the id."""
    brokers = TwoCoordinators(["Empty"], [["Empty"]])
    coordinators = KeptByCoordinators(leader_client=brokers, log=log)  # type: ignore[arg-type]
    log.read_on()
    coordinators.describe("a", timeout_seconds)
    coordinators.compare(timeout_seconds)
    (row,) = coordinators.rows()
    return row


def test_a_record_that_comes_after_the_description_is_waited_for() -> None:
    assert recorded(WrittenStates([written("Ongoing", start_ms=5), written("Empty")])) == "Empty 7 0 10000 -1 -1"


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (written("Empty", timeout_ms=20_000), "Empty 7 0 20000 -1 -1"),
        (written("CompleteCommit", start_ms=5), "CompleteCommit 7 0 10000 -1 5"),
    ],
    ids=["timeout", "another state"],
)
def test_a_record_that_stays_different_is_told_as_it_is(record: TransactionState, text: str) -> None:
    assert recorded(WrittenStates([record]), timeout_seconds=0.06) == text


def test_a_next_producer_id_that_a_record_of_what_had_ended_named_is_told() -> None:
    log = WrittenStates([written("Empty")], next_ids={"a": 9})
    assert recorded(log, timeout_seconds=0.06) == "Empty 7 0 10000 9 -1"


def test_the_start_of_an_empty_transaction_is_not_compared() -> None:
    assert recorded(WrittenStates([written("Empty", start_ms=5)])) == "Empty 7 0 10000 -1 -1"


def test_of_a_log_that_could_not_be_read_nothing_is_said() -> None:
    log = WrittenStates([written("Ongoing")], lacking="it could not be read")
    assert kept(log).recorded is None
    assert kept(log).protocol is None


@pytest.mark.parametrize(("version", "protocol"), [(0, "v1"), (2, "v2")])
def test_the_protocol_is_the_one_that_the_last_record_names(version: int, protocol: str) -> None:
    log = WrittenStates([written("Ongoing"), written("Empty", client_transaction_version=version)])
    assert kept(log).protocol == protocol


@dataclass
class LogOfCoordinators:
    """One partition of ``__transaction_state``; a Fetch answers with one batch."""

    batches: list[LogBatch]
    brokers: Sequence[int] = (1,)

    def metadata_of(self, _broker: int, topics: tuple[str, ...]) -> MetadataResult:
        partition: Any = {"error": 0, "leader": 1, "leader_epoch": 4, "replicas": [1], "isr": [1]}
        known: Any = {topics[0]: {"id": None, "error": 0, "partitions": {0: partition}}}
        return MetadataResult(error=0, error_message=None, cluster_id=None, controller=1, brokers={}, topics=known)

    def at_leader(self, _partition: TopicPartition, request: object, *, timeout_seconds: float) -> Any:
        assert timeout_seconds > 0
        if isinstance(request, ListOffsets):
            return ListOffsetsResult(error=0, error_message=None, offset=0, timestamp_ms=-1, leader_epoch=-1)
        assert isinstance(request, Fetch)
        found = next((each for each in self.batches if each.last_offset >= request.offset), None)
        return FetchResult(
            error=0,
            error_message=None,
            high_watermark=9,
            last_stable_offset=9,
            log_start_offset=0,
            aborted=(),
            batches=() if found is None else (found,),
            next_offset=request.offset if found is None else found.last_offset + 1,
        )


def state_batch(offset: int, transactional_id: str, epoch: int, next_id: int | None = None) -> LogBatch:
    """A batch with one record of an id; :param next_id: The producer id to follow (tag 1)."""
    tags = () if next_id is None else ((1, next_id.to_bytes(8, "big")),)
    new = NewState(transactional_id=transactional_id, producer_id=7, producer_epoch=epoch, timeout_ms=10_000, tags=tags)
    made = batch(offset)
    (record,) = made.records
    return replace(made, records=(replace(record, key=new.key, value=new.value),))


def test_the_log_is_read_on_from_where_the_last_reading_ended() -> None:
    brokers = LogOfCoordinators([state_batch(0, "round-1-a", 0), state_batch(1, "round-2-a", 0)])
    machine = MachineTime(RunClock(), 0)
    log = CoordinatorsLog(leader_client=brokers, machine=machine, prefix="round-1-")  # type: ignore[arg-type]
    log.read_on()
    assert [(each.transactional_id, each.producer_epoch) for each in log.states] == [("round-1-a", 0)]
    brokers.batches += [state_batch(2, "round-1-a", 1)]
    log.read_on()
    assert [each.producer_epoch for each in log.states] == [0, 1]
    assert (log.last["round-1-a"].producer_epoch, log.next_ids, log.lacking) == (1, {}, "")


def test_a_record_of_what_has_ended_that_names_another_producer_id_is_noted() -> None:
    brokers = LogOfCoordinators([state_batch(0, "round-1-a", 0, next_id=9), state_batch(1, "round-1-a", 1)])
    log = CoordinatorsLog(leader_client=brokers, machine=MachineTime(RunClock(), 0), prefix="round-1-")  # type: ignore[arg-type]
    log.read_on()
    assert log.next_ids == {"round-1-a": 9}


def test_a_log_of_which_no_broker_tells_lacks() -> None:
    nobody = leader_client(Broker(failing={1: NoAnswer("paused")}))
    log = CoordinatorsLog(leader_client=nobody, machine=MachineTime(RunClock(), 0), prefix="")
    log.read_on()
    assert log.lacking == "__transaction_state could not be read: no broker names its partitions"
