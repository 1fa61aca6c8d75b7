"""What faults ask of a cluster: every broker is asked, silent ones are passed over, the newest answer counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from harness.base import wait
from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.base.unprepared import Unprepared
from harness.cluster.cluster import Cluster
from harness.cluster.topology import Topology
from harness.faults.brokers.leadership import await_recovery, leader_moved
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.toxic import StrikeCount
from harness.wire.api_results import PartitionErrors
from harness.wire.records.transaction_state import TOPIC as STATE
from harness.wire.records.transaction_state import state_partition
from harness.wire.requests.cluster.alter_partition_reassignments import AlterPartitionReassignments
from harness.wire.requests.cluster.elect_leaders import ElectLeaders
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult, PartitionMetadata, TopicMetadata
from harness.wire.wire_errors import ConnectionClosed, NoAnswer

BROKERS = (1, 2, 3)


@dataclass(slots=True)
class Kafka:
    """Brokers' answers: who is listed and who leads; ``silent`` ones never answer, ``gone`` ones hang up.

    :param copies: Whether the replicas that a reassignment names are the in-sync ones at once.
    """

    partitions: dict[str, dict[int, PartitionMetadata]] = field(default_factory=dict)
    stale: dict[int, dict[str, dict[int, PartitionMetadata]]] = field(default_factory=dict)
    listed: dict[int, tuple[int, ...]] = field(default_factory=lambda: dict.fromkeys(BROKERS, BROKERS))
    silent: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    refused: int = 0
    copies: bool = False
    requests: list[object] = field(default_factory=list)

    def highest(self, node: int, _api: str) -> int:
        """Any version; a broker that is gone cannot be asked for it."""
        if node in self.gone:
            raise ConnectionClosed(f"broker {node} is gone")
        return 0

    def send(self, node: int, request: object, _version: int) -> "Asked":
        """A request to one broker."""
        return Asked(self, node, request)

    def call(self, node: int, request: object, version: int, *, timeout_seconds: float) -> "Answered":
        """A request and its answer."""
        return self.send(node, request, version).wait(timeout_seconds)


@dataclass(frozen=True, slots=True)
class Answered:
    """As :class:`harness.wire.pending_request.Response`."""

    result: Any


@dataclass(frozen=True, slots=True)
class Asked:
    """As :class:`harness.wire.pending_request.PendingResponse`."""

    kafka: Kafka
    node: int
    request: object

    def wait(self, _within: float) -> Answered:
        """The answer at once, or none."""
        if self.node in self.kafka.silent:
            raise NoAnswer(f"broker {self.node}: no answer")
        match self.request:
            case Metadata(topics=topics):
                return Answered(metadata(self.kafka, self.node, topics))
            case AlterPartitionReassignments(replicas=replicas):
                self.kafka.requests.append(replicas)
                return Answered(moved(self.kafka, replicas))
            case ElectLeaders(partitions=partitions):
                self.kafka.requests.append(partitions)
                return Answered(elected())
            case other:
                raise AssertionError(other)


def metadata(kafka: Kafka, node: int, topics: tuple[str, ...] | None) -> MetadataResult:
    """As the broker has it; a stale one has the past."""
    known = kafka.stale.get(node, kafka.partitions)
    wanted = known if topics is None else topics
    answered = {name: TopicMetadata(id=None, error=0, partitions=known.get(name, {})) for name in wanted}
    listed = {broker: f"b{broker}:1" for broker in kafka.listed[node]}
    return MetadataResult(error=0, error_message=None, cluster_id="c", controller=1, brokers=listed, topics=answered)


def elected() -> PartitionErrors:
    """The wanted replica leads already."""
    return PartitionErrors(error=KafkaError.ELECTION_NOT_NEEDED, error_message=None, partitions={})


def moved(kafka: Kafka, replicas: Mapping[tuple[str, int], tuple[int, ...] | None]) -> PartitionErrors:
    """The first of the new order leads at once."""
    for (topic, index), order in replicas.items():
        if not kafka.refused:
            assert order is not None
            epoch = kafka.partitions[topic][index]["leader_epoch"] + 1
            kafka.partitions[topic][index] = led(
                order[0], epoch=epoch, replicas=order, isr=order if kafka.copies else BROKERS
            )
    return PartitionErrors(error=kafka.refused, error_message=None, partitions={})


def led(
    leader: int, *, epoch: int = 1, isr: tuple[int, ...] = BROKERS, replicas: tuple[int, ...] = BROKERS
) -> PartitionMetadata:
    """A partition with its leader."""
    return PartitionMetadata(error=0, leader=leader, leader_epoch=epoch, replicas=list(replicas), isr=list(isr))


def fault_target(kafka: Kafka) -> FaultTarget:
    """A cluster of nothing but brokers that answer."""

    @dataclass(frozen=True, slots=True)
    class Bare:
        topology: Topology = field(default_factory=lambda: Topology(brokers=BROKERS, controller=4, lanes={}))
        links: None = None

    return FaultTarget(
        cluster=cast(Cluster, Bare()),
        clock=RunClock(),
        client=cast(Any, kafka),
        topics={},
        transactional_ids={"teller": "r1-teller"},
    )


def test_the_newest_answer_counts() -> None:
    kafka = Kafka(partitions={"t": {0: led(2, epoch=7, isr=(2, 3))}}, stale={1: {"t": {0: led(1, epoch=6)}}})
    assert fault_target(kafka).leader("t", 0) == 2
    assert fault_target(kafka).in_sync("t", 0) == (2, 3)


def test_silent_and_absent_brokers_are_passed_over() -> None:
    kafka = Kafka(partitions={"t": {0: led(3)}}, silent={1}, gone={2})
    assert fault_target(kafka).leader("t", 0) == 3
    assert [fault_target(kafka).answers(node) for node in BROKERS] == [False, False, True]


def test_a_partition_without_leader_has_none_and_an_unknown_one_is_an_error() -> None:
    kafka = Kafka(partitions={"t": {0: led(-1)}})
    assert fault_target(kafka).leader("t", 0) is None
    for topic, index in (("t", 1), ("u", 0)):
        with pytest.raises(Unprepared, match=f"no broker that answers knows {topic}-{index}"):
            fault_target(kafka).leader(topic, index)


def test_an_id_is_coordinated_by_the_leader_of_the_partition_that_keeps_its_real_name() -> None:
    kept = state_partition("r1-teller", 5)
    kafka = Kafka(partitions={STATE: {index: led(2 if index == kept else 1) for index in range(5)}})
    assert state_partition("teller", 5) != kept, "the word would have led elsewhere"
    assert fault_target(kafka).state_partition("teller") == (STATE, kept)
    assert fault_target(kafka).coordinator("teller") == 2


def test_the_newest_epoch_of_each_coordinator_is_told_where_all_brokers_answer() -> None:
    shown = {STATE: {0: led(1, epoch=7), 1: led(2, epoch=-1)}}
    kafka = Kafka(partitions=shown, stale={1: {STATE: {0: led(2, epoch=6)}}, 2: {}})
    assert fault_target(kafka).view.state_epochs() == {0: 7}
    kafka.silent.add(3)
    assert fault_target(kafka).view.state_epochs() == {}, "the one that leads now may be the silent one"


def test_a_broker_is_registered_when_it_answers_and_all_that_answer_list_it() -> None:
    assert fault_target(Kafka()).registered(2)
    assert fault_target(Kafka(silent={1})).registered(2)
    assert not fault_target(Kafka(silent={2})).registered(2)
    assert not fault_target(Kafka(listed={1: (1, 3), 2: BROKERS, 3: BROKERS})).registered(2)


def test_a_broker_is_dropped_when_another_no_longer_lists_it() -> None:
    assert not fault_target(Kafka()).dropped(2)
    assert fault_target(Kafka(listed={1: (1, 3), 2: BROKERS, 3: (1, 3)})).dropped(2)
    assert not fault_target(Kafka(listed={1: BROKERS, 2: (1, 3), 3: BROKERS})).dropped(2)


def test_all_is_replicated_when_every_broker_is_there_and_every_replica_in_sync() -> None:
    assert fault_target(Kafka(partitions={"t": {0: led(1)}})).replicated()
    assert not fault_target(Kafka(partitions={"t": {0: led(1), 1: led(2, isr=(2, 1))}})).replicated()
    assert not fault_target(Kafka(partitions={"t": {0: led(-1)}})).replicated()
    assert not fault_target(Kafka(partitions={"t": {0: led(1)}}, silent={3})).replicated()


def test_an_administrators_request_goes_to_a_broker_that_takes_it() -> None:
    kafka = Kafka(gone={1}, silent={2})
    fault_target(kafka).to_controller(ElectLeaders(partitions=None))
    assert kafka.requests == [None]
    kafka.silent.add(3)
    with pytest.raises(Unprepared, match="ElectLeaders was not taken: broker 1 is gone; broker 2: no answer; broker 3"):
        fault_target(kafka).to_controller(ElectLeaders(partitions=None))


def test_a_broker_that_does_not_come_back_is_an_error() -> None:
    with pytest.raises(wait.TimedOut, match="the return of broker 2"):
        fault_target(Kafka(silent={2})).await_registered(2, timeout_seconds=0)


def test_where_there_are_no_proxies_a_toxic_is_powerless() -> None:
    with pytest.raises(Powerless, match="no proxies"):
        assert fault_target(Kafka()).links


@pytest.mark.parametrize(("rank", "new"), [(0, 1), (1, 3), (2, 1)])
def test_a_partition_is_led_by_another_for_a_while_and_then_as_before(rank: int, new: int) -> None:
    kafka = Kafka(partitions={"t": {0: led(2, replicas=(2, 3, 1))}})
    with leader_moved(fault_target(kafka), "t", 0, rank) as strikes:
        assert kafka.partitions["t"][0]["leader"] == new
        assert sorted(kafka.partitions["t"][0]["replicas"]) == [1, 2, 3]
    assert kafka.partitions["t"][0]["replicas"] == [2, 3, 1]
    assert (strikes.struck, strikes.how) == (1, f"leaders moved: 2 → {new}")


def test_a_leader_that_cannot_move_does_not_strike() -> None:
    alone = Kafka(partitions={"t": {0: led(2, isr=(2,))}})
    with (
        pytest.raises(Unprepared, match="no other replica of t-0 is in sync"),
        leader_moved(fault_target(alone), "t", 0, 0),
    ):
        pass
    assert alone.requests == []
    refusing = Kafka(partitions={"t": {0: led(2)}}, refused=KafkaError.NOT_CONTROLLER)
    with pytest.raises(Unprepared, match="NOT_CONTROLLER"), leader_moved(fault_target(refusing), "t", 0, 0):
        pass


def test_a_broker_that_is_back_leads_again_and_one_whose_replicas_lag_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    strikes = StrikeCount(where="broker-2", how="gone")
    kafka = Kafka(partitions={"t": {0: led(1)}})
    await_recovery(fault_target(kafka), 2, strikes)
    assert kafka.requests == [None]
    assert strikes.how == "gone"
    monkeypatch.setattr("harness.kafka.leaders.moving.IN_SYNC_SECONDS", 0)
    lagging = Kafka(partitions={"t": {0: led(1, isr=(1, 3))}})
    await_recovery(fault_target(lagging), 2, strikes)
    assert lagging.requests == []
    assert strikes.how == "gone; no election: full ISR did not come about within 0 s"
