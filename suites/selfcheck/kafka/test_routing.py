"""Leaders and coordinators from brokers' answers: the newest leader epoch counts, doubted ones are asked for again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.base.kafka_error import KafkaError
from harness.kafka.retriable import READ_AGAIN, STALE_ROUTE, TRANSIENT
from harness.kafka.routing import RoutingTable, first_answer
from harness.wire.api_request import ApiRequest
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult, PartitionMetadata, TopicMetadata
from harness.wire.requests.groups.find_coordinator import TRANSACTION, FindCoordinatorResult

FIRST, SECOND = ("t", 0), ("t", 1)


def metadata(*leaders: tuple[int, int], error: int = 0) -> MetadataResult:
    """An answer with the leader and leader epoch of each partition of the topic."""
    partitions = {
        index: PartitionMetadata(error=0, leader=leader, leader_epoch=epoch, replicas=[1, 2], isr=[1, 2])
        for index, (leader, epoch) in enumerate(leaders)
    }
    topics = {"t": TopicMetadata(id=None, error=error, partitions=partitions)}
    return MetadataResult(error=error, error_message=None, cluster_id=None, controller=1, brokers={}, topics=topics)


@dataclass(slots=True)
class Answers:
    """Brokers that give these answers one after the other, then none."""

    answers: list[Any]
    requests: list[Any] = field(default_factory=list)

    def __call__(self, request: ApiRequest[Any], /) -> Any:
        """The next answer."""
        self.requests.append(request)
        return self.answers.pop(0) if self.answers else None


def test_a_leader_is_asked_for_once_until_it_is_doubted() -> None:
    table, ask = RoutingTable(), Answers([metadata((1, 4), (2, 4)), metadata((2, 5), (2, 4))])
    assert [table.leader(each, ask) for each in (FIRST, SECOND, FIRST)] == [1, 2, 1]
    assert ask.requests == [Metadata(topics=("t",))]
    table.invalidate([FIRST])
    assert table.leader(FIRST, ask) == 2
    assert len(ask.requests) == 2


def test_an_older_leader_epoch_is_not_believed_and_the_doubt_remains() -> None:
    table, ask = RoutingTable(), Answers([metadata((1, 4)), metadata((2, 3)), metadata((2, 5))])
    assert table.leader(FIRST, ask) == 1
    table.invalidate_all_leaders()
    assert table.leader(FIRST, ask) == 1
    assert table.leader(FIRST, ask) == 2


def test_without_an_answer_a_doubted_leader_is_unknown() -> None:
    table, ask = RoutingTable(), Answers([metadata((1, 4))])
    assert table.leader(FIRST, ask) == 1
    table.invalidate([FIRST])
    assert table.leader(FIRST, ask) is None


def test_partitions_are_grouped_by_leader_without_those_that_have_none() -> None:
    table = RoutingTable()
    partitions = [("t", index) for index in range(4)]
    ask = Answers([metadata((1, 4), (2, 4), (-1, 5), (1, 4))])
    assert table.leaders(partitions, ask) == {1: [("t", 0), ("t", 3)], 2: [("t", 1)]}


def test_a_topic_that_is_answered_with_an_error_has_no_partitions() -> None:
    table, ask = RoutingTable(), Answers([metadata((1, 4), error=KafkaError.UNKNOWN_TOPIC_OR_PARTITION)])
    assert table.leader(FIRST, ask) is None
    assert table.key_partition("t", "id") is None
    assert table.topic("t", Answers([metadata((1, 4), (1, 4))])).keys() == {0, 1}


def test_a_coordinator_is_asked_for_once_until_it_is_doubted_and_an_error_is_not_remembered() -> None:
    def found(node: int, error: int = 0) -> FindCoordinatorResult:
        return FindCoordinatorResult(error=error, error_message=None, node=node, host="", port=0)

    table = RoutingTable()
    ask = Answers([found(-1, KafkaError.COORDINATOR_NOT_AVAILABLE), found(2), found(3)])
    assert [table.coordinator("id", TRANSACTION, ask) for _ in range(3)] == [None, 2, 2]
    table.invalidate_all_coordinators()
    assert table.coordinator("id", TRANSACTION, ask) == 3


def test_brokers_are_asked_in_order_until_one_answers() -> None:
    asked: list[int] = []

    def ask(node: int, _request: ApiRequest[Any], /) -> Any:
        asked.append(node)
        return metadata((1, 4)) if node == 3 else None

    answer = first_answer((2, 3, 1), ask, Metadata(topics=("t",)))
    assert (answer, asked) == (metadata((1, 4)), [2, 3])
    assert first_answer((), ask, Metadata(topics=("t",))) is None


def test_every_set_of_the_table_is_of_retriable_errors_but_for_the_one_that_is_explained() -> None:
    assert {error for errors in (READ_AGAIN, TRANSIENT) for error in errors if not error.retriable} == set()
    unexplained: Sequence[KafkaError] = [error for error in STALE_ROUTE if not error.retriable]
    assert unexplained == [KafkaError.TRANSACTION_COORDINATOR_FENCED]
