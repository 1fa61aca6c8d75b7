"""Steps and waits of the lab on a broker of tables, on a clock that only the waiting itself moves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.base.unprepared import Unprepared
from harness.base.wait import SHORT_SECONDS, Patience, TimedOut
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.leader_reads import LeaderReads
from harness.lab.observer import Observer
from harness.lab.partition import Partition
from harness.lab.producer import Producer
from harness.lab.progress import BOUND_SECONDS, SETTLE_SECONDS, Progress
from harness.lab.step_recorder import BOUND, StepRecorder
from harness.wire.offered import Offered
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult
from harness.wire.requests.groups.find_coordinator import FindCoordinator
from harness.wire.requests.log.fetch import Fetch, FetchResult
from harness.wire.requests.log.list_offsets import ListOffsets, ListOffsetsResult
from harness.wire.requests.transactions.describe_producers import DescribeProducers, DescribeProducersResult
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.wire_errors import NoAnswer, WireError

CONCURRENT = KafkaError.CONCURRENT_TRANSACTIONS
PARTITION = Partition(alias="P1", topic="t", index=0, leader=1)
END = EndTxn(transactional_id="id", producer_id=1, producer_epoch=0, committed=True)


@dataclass(slots=True)
class SteppedClock:
    """Seconds that pass by pausing, and by waiting for an answer that does not come."""

    seconds: float = 0.0

    def now(self) -> float:
        return self.seconds

    def pause(self, seconds: float) -> None:
        self.seconds += seconds


@dataclass(slots=True)
class TableBroker:
    """One broker.

    :param end: What EndTxn is answered at a time in seconds; None: nothing.
    :param state: What is kept of the transactional id at that time.
    :param stable: Whether the last stable offset is at the high watermark at that time.
    :param leader: (leader, epoch) of every partition by Metadata.
    """

    clock: SteppedClock
    end: Callable[[float], int | None] = lambda _now: 0
    state: Callable[[float], str] = lambda _now: "CompleteCommit"
    stable: Callable[[float], bool] = lambda _now: True
    leader: tuple[int, int] = (1, 5)
    epoch: int = 5
    asked: list[object] = field(default_factory=list)
    left: list[int] = field(default_factory=list)

    def leave(self, node: int) -> None:
        """The connection is closed."""
        self.left.append(node)

    def offered(self, _node: int) -> Offered:
        return Offered(apis={"DescribeTransactions": (0, 0), "DescribeProducers": (0, 0)})

    def highest(self, _node: int, _api: str, cap: int | None = None) -> int:
        return 0 if cap is None else cap

    def send(self, node: int, request: Any, version: int) -> Any:
        self.asked.append(request)
        return TablePending(broker=self, request=request, node=node, version=version, api=request.api)

    def result(self, request: object) -> object | None:
        """The answer now; None while there is none."""
        now = self.clock.now()
        match request:
            case EndTxn():
                error = self.end(now)
                return (
                    None
                    if error is None
                    else ListOffsetsResult(error=error, error_message=None, offset=0, timestamp_ms=0, leader_epoch=0)
                )
            case DescribeTransactions():
                return TableState(error=0, state=self.state(now))
            case DescribeProducers():
                return DescribeProducersResult(error=0, error_message=None, producers=[])
            case ListOffsets(leader_epoch=epoch):
                error = 0 if epoch in (-1, self.epoch) else KafkaError.FENCED_LEADER_EPOCH
                return ListOffsetsResult(error=error, error_message=None, offset=3, timestamp_ms=-1, leader_epoch=-1)
            case FindCoordinator():
                return type("Found", (), {"error": 0, "node": self.leader[0]})
            case Metadata(topics=topics):
                return self._metadata(topics or ())
            case Fetch(leader_epoch=epoch):
                return self._fetched(0 if epoch in (-1, self.epoch) else KafkaError.FENCED_LEADER_EPOCH)
        raise AssertionError(request)

    def _metadata(self, topics: Sequence[str]) -> MetadataResult:
        leader, epoch = self.leader
        partition: Any = {"error": 0, "leader": leader, "leader_epoch": epoch, "replicas": [1], "isr": [1]}
        found: Any = {topic: {"id": None, "error": 0, "partitions": {0: partition}} for topic in topics}
        return MetadataResult(error=0, error_message=None, cluster_id=None, controller=1, brokers={}, topics=found)

    def _fetched(self, error: int) -> FetchResult:
        return FetchResult(
            error=error,
            error_message=None,
            high_watermark=3,
            last_stable_offset=3 if self.stable(self.clock.now()) else 0,
            log_start_offset=0,
            aborted=(),
            batches=(),
            next_offset=0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """The answer to DescribeTransactions."""

    error: int
    state: str
    error_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePending:
    """A request that was sent."""

    broker: TableBroker
    request: object
    node: int
    version: int
    api: str
    sent: float = 0.0
    number: int = 1

    def wait(self, timeout_seconds: float = 10.0) -> Any:
        """The answer, or all the time gone."""
        result = self.broker.result(self.request)
        if result is None:
            self.broker.clock.pause(timeout_seconds)
            raise NoAnswer("no answer")
        return type("Response", (), {"result": result, "exchange": type("Exchange", (), {"answered": 1.0})})


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def broker(clock: SteppedClock) -> TableBroker:
    return TableBroker(clock)


@pytest.fixture
def recorder(broker: TableBroker, clock: SteppedClock) -> StepRecorder:
    patience = Patience(now=clock.now, pause=clock.pause)
    return StepRecorder("observer", broker, EvidenceBuilder(), RunClock(), {}, patience)  # type: ignore[arg-type]


@pytest.fixture
def observer(recorder: StepRecorder) -> Observer:
    return Observer(recorder, LeaderReads(recorder, (1,)))


@pytest.fixture
def progress(observer: Observer, recorder: StepRecorder) -> Progress:
    return Progress(observer, recorder.patience)


def ended(
    recorder: StepRecorder, clock: SteppedClock, timeout_seconds: float | None = None
) -> tuple[int | None, float]:
    """What EndTxn was answered at last, and after how many seconds."""
    began = clock.now()
    step = recorder.ask(1, END, 0, as_="end", timeout_seconds=timeout_seconds)
    return step.error, round(clock.now() - began)


def test_a_refusal_that_never_passes_has_its_bound_twice(
    recorder: StepRecorder, broker: TableBroker, clock: SteppedClock
) -> None:
    broker.end = lambda _now: CONCURRENT
    assert [ended(recorder, clock) for _ in range(3)] == [(CONCURRENT, BOUND), (CONCURRENT, BOUND), (CONCURRENT, 1)]
    assert ended(recorder, clock, timeout_seconds=BOUND) == (CONCURRENT, BOUND), "a bound that was given is kept"


def test_a_refusal_whose_last_try_is_cut_short_has_used_up_its_bound(
    recorder: StepRecorder, broker: TableBroker, clock: SteppedClock
) -> None:
    for _ in range(2):
        silent_from = clock.now() + BOUND - 0.05
        broker.end = lambda now, since=silent_from: CONCURRENT if now < since else None  # type: ignore[misc]
        assert ended(recorder, clock) == (None, BOUND)
    broker.end = lambda _now: CONCURRENT
    assert ended(recorder, clock) == (CONCURRENT, 1)


def test_a_connection_that_breaks_early_has_not_used_up_the_bound_of_a_refusal(
    recorder: StepRecorder, broker: TableBroker, clock: SteppedClock
) -> None:
    def breaks(now: float, since: float) -> int:
        if now > since:
            raise WireError("connection reset")
        return CONCURRENT

    for _ in range(3):
        broker.end = partial(breaks, since=clock.now())
        assert ended(recorder, clock) == (None, 0)
    broker.end = lambda _now: CONCURRENT
    assert ended(recorder, clock) == (CONCURRENT, BOUND)


def test_a_refusal_that_passes_gets_its_bound_back(
    recorder: StepRecorder, broker: TableBroker, clock: SteppedClock
) -> None:
    broker.end = lambda _now: CONCURRENT
    for _ in range(2):
        ended(recorder, clock)
    passes = clock.now() + SHORT_SECONDS / 2
    broker.end = lambda now: 0 if now >= passes else CONCURRENT
    assert ended(recorder, clock)[0] == 0
    later = clock.now() + 8
    broker.end = lambda now: 0 if now >= later else CONCURRENT
    assert ended(recorder, clock) == (0, 8)


def test_silence_has_its_bound_twice_and_again_after_an_answer(
    recorder: StepRecorder, broker: TableBroker, clock: SteppedClock
) -> None:
    broker.end = lambda _now: None
    assert [ended(recorder, clock) for _ in range(3)] == [(None, BOUND), (None, BOUND), (None, 1)]
    broker.end = lambda _now: 0
    assert ended(recorder, clock) == (0, 0)
    broker.end = lambda _now: None
    assert ended(recorder, clock) == (None, BOUND)


def test_nothing_waits_behind_a_request_that_is_not_answered(
    recorder: StepRecorder, broker: TableBroker, clock: SteppedClock
) -> None:
    ended(recorder, clock)
    assert broker.left == []
    broker.end = lambda _now: None
    ended(recorder, clock)
    assert broker.left == [1]
    ended(recorder, clock, timeout_seconds=1.0)
    assert broker.left == [1], "who gives a bound knows that the request may lie on a held link"


def reached(progress: Progress, *states: str, timeout_seconds: float | None = None) -> str:
    """The state that is noted in the end."""
    producer = Producer(step_recorder=progress.observer.recorder, transactional_id="id", coordinator=1)
    step = progress.reach(producer, states, (PARTITION,), as_="kept", timeout_seconds=timeout_seconds)
    return str(step.fields["state"])


def test_a_state_that_has_passed_what_is_waited_for_ends_the_wait(
    progress: Progress, broker: TableBroker, clock: SteppedClock
) -> None:
    broker.state = lambda _now: "CompleteAbort"
    assert reached(progress, "CompleteCommit") == "CompleteAbort"
    broker.state = lambda _now: "PrepareAbort"
    assert reached(progress, "CompleteCommit") == "PrepareAbort"
    assert clock.now() == 0


def test_a_state_that_may_still_come_is_waited_for(
    progress: Progress, broker: TableBroker, clock: SteppedClock
) -> None:
    broker.state = lambda now: "Ongoing" if now < 2 else "PrepareCommit" if now < 4 else "CompleteCommit"
    assert reached(progress, "CompleteCommit") == "CompleteCommit"
    assert round(clock.now()) == 4


def test_a_bound_of_the_promises_own_is_for_what_comes_before_the_markers(
    progress: Progress, broker: TableBroker, clock: SteppedClock
) -> None:
    broker.state = lambda now: "Ongoing" if now < 15 else "PrepareAbort"
    assert reached(progress, "CompleteAbort", timeout_seconds=20) == "PrepareAbort"
    assert round(clock.now()) == 15 + BOUND_SECONDS


def test_markers_that_never_come_cost_two_bounds_whatever_is_looked_at(
    progress: Progress, broker: TableBroker, clock: SteppedClock
) -> None:
    broker.stable, broker.state = (lambda _now: False), lambda _now: "PrepareCommit"
    assert not progress.settle((PARTITION,))
    with pytest.raises(TimedOut, match="high watermark"):
        progress.complete((PARTITION,))
    assert round(clock.now()) == SETTLE_SECONDS + BOUND_SECONDS
    assert reached(progress, "CompleteCommit") == "PrepareCommit"
    assert round(clock.now()) == SETTLE_SECONDS + BOUND_SECONDS + SHORT_SECONDS


def test_a_leader_elected_anew_is_asked_in_its_new_epoch(observer: Observer, broker: TableBroker) -> None:
    assert observer.sample(PARTITION).high_watermark == 3
    broker.leader, broker.epoch = (1, 6), 6
    assert observer.sample(PARTITION).high_watermark == 3
    assert [request.leader_epoch for request in broker.asked if isinstance(request, Fetch)] == [5, 5, 6]


def test_a_broker_that_no_longer_leads_is_not_believed(observer: Observer, broker: TableBroker) -> None:
    observer.sample(PARTITION)
    broker.leader, broker.epoch = (2, 6), 7
    with pytest.raises(Unprepared, match="FENCED_LEADER_EPOCH"):
        observer.sample(PARTITION)
    with pytest.raises(Unprepared, match="FENCED_LEADER_EPOCH"):
        observer.end_offset(PARTITION, as_="end")
    with pytest.raises(Unprepared, match="no longer, in charge"):
        observer.producers(PARTITION, as_="producers")
    assert observer.recorder.notes.steps == []


def test_what_a_broker_says_that_does_not_coordinate_is_not_noted(observer: Observer, broker: TableBroker) -> None:
    assert observer.transaction("id", 1, as_="kept").fields["state"] == "CompleteCommit"
    broker.leader = (2, 6)
    with pytest.raises(Unprepared, match="no longer, in charge"):
        observer.transaction("id", 1, as_="kept again")
    assert [noted.step.name for noted in observer.recorder.notes.steps] == ["kept"]
