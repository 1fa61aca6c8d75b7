"""Whose answer counts, on a made-up cluster in which the leadership has moved and not everybody knows it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.base.kafka_error import KafkaError
from harness.kafka.in_charge import coordination, in_epoch, version_of_leaders
from harness.kafka.leader_client import LeaderClient, Unreachable
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult
from harness.wire.requests.groups.find_coordinator import TRANSACTION, FindCoordinator
from harness.wire.requests.log.fetch import LAST_BY_NAME, LAST_OF_LEADERS, Fetch
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks, FetchWatermarksResult
from harness.wire.requests.log.list_offsets import ListOffsets, ListOffsetsResult
from harness.wire.requests.transactions.describe_producers import DescribeProducers, DescribeProducersResult
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import NotOffered

PARTITION: TopicPartition = ("t", 0)
STATE = "__transaction_state"
OLD, NEW = 1, 2
"""The brokers: one that led in epoch 4, one that leads in epoch 5."""


@dataclass(slots=True, kw_only=True)
class MovedCluster:
    """What each broker knows of the one partition's leader: (leader, epoch).

    :param old_knows: Whether the old leader knows that it is a follower; else it is cut off and goes on.
    :param oldest_fetch: The lowest version of Fetch that is offered.
    :param lists_internal: Whether Metadata shows the internal topics.
    :param coordinator_by: Whom a broker names as coordinator; the leader that it knows where it is left out.
    """

    known: dict[int, tuple[int, int]] = field(default_factory=lambda: {OLD: (OLD, 4), NEW: (NEW, 5)})
    old_knows: bool = True
    oldest_fetch: int = 4
    lists_internal: bool = True
    coordinator_by: dict[int, int] = field(default_factory=dict)
    asked: list[tuple[int, str, int | None]] = field(default_factory=list)

    def highest(self, node: int, api: str, cap: int | None = None) -> int:
        """As the wire client's."""
        if api == Fetch.api and cap is not None and cap < self.oldest_fetch:
            raise NotOffered(f"broker {node} offers Fetch {self.oldest_fetch}–17")
        return 17 if cap is None else cap

    def call(self, node: int, request: object, version: int | None = None, *, timeout_seconds: float = 0) -> Any:
        """As the wire client's."""
        assert timeout_seconds >= 0
        self.asked.append((node, type(request).__name__, version))
        return type("Response", (), {"result": self._result(node, request, version)})

    def close(self) -> None:
        """Nothing is open."""

    def _result(self, node: int, request: object, version: int | None) -> object:
        match request:
            case Metadata(topics=topics):
                return self._metadata(node, topics or ())
            case FindCoordinator():
                named = self.coordinator_by.get(node, self.known[node][0])
                return type("Found", (), {"error": 0, "node": named})
            case ListOffsets(leader_epoch=epoch):
                error = self._refusal(node, epoch, follower_serves=False)
                return ListOffsetsResult(error=error, error_message=None, offset=node, timestamp_ms=-1, leader_epoch=-1)
            case FetchWatermarks(leader_epochs=epochs):
                served = version is not None and version > LAST_OF_LEADERS
                error = self._refusal(node, epochs.get(PARTITION, -1), follower_serves=served)
                levels = {} if error else {PARTITION: (10 * node, 10 * node)}
                return FetchWatermarksResult(
                    error=error, error_message=None, watermarks=levels, partitions={PARTITION: error}
                )
            case DescribeProducers():  # any replica answers
                return DescribeProducersResult(error=0, error_message=None, producers=[])
            case DescribeTransactions():
                return type("Kept", (), {"error": 0, "state": f"as broker {node} keeps it"})
        raise AssertionError(request)

    def _refusal(self, node: int, epoch: int, *, follower_serves: bool) -> int:
        """``Partition.checkCurrentLeaderEpoch``, then whether it leads."""
        own = 4 if node == OLD and not self.old_knows else 5
        if epoch not in (-1, own):
            return KafkaError.FENCED_LEADER_EPOCH if own > epoch else KafkaError.UNKNOWN_LEADER_EPOCH
        leads = node == NEW or not self.old_knows
        return 0 if leads or follower_serves else KafkaError.NOT_LEADER_OR_FOLLOWER

    def _metadata(self, node: int, topics: Sequence[str]) -> MetadataResult:
        leader, epoch = self.known[node]
        partition: Any = {"error": 0, "leader": leader, "leader_epoch": epoch, "replicas": [1, 2], "isr": [1, 2]}
        shown = [topic for topic in topics if self.lists_internal or not topic.startswith("__")]
        found: Any = {topic: {"id": None, "error": 0, "partitions": {0: partition}} for topic in shown}
        return MetadataResult(error=0, error_message=None, cluster_id=None, controller=1, brokers={}, topics=found)


def client(cluster: MovedCluster, first: int = OLD) -> LeaderClient:
    """One whose first Metadata comes from ``first``."""
    made = LeaderClient(client=cluster, brokers=(OLD, NEW))  # type: ignore[arg-type]
    made._turn = 1 if first == OLD else 0
    assert made.leader(PARTITION) == cluster.known[first][0]
    return made


@pytest.mark.parametrize("oldest_fetch", [4, 11], ids=["v10", "v12 with the epoch"])
@pytest.mark.parametrize("old_knows", [True, False], ids=["the old one follows", "the old one is cut off"])
def test_levels_come_from_the_new_leader_once_anybody_has_told_of_it(old_knows: bool, oldest_fetch: int) -> None:
    cluster = MovedCluster(old_knows=old_knows, oldest_fetch=oldest_fetch)
    asking = client(cluster, first=OLD)
    if not old_knows:  # it goes on in its own eyes: the newer epoch must come from another
        asking.forget([PARTITION])
    result = asking.at_leader(PARTITION, FetchWatermarks(partitions=(PARTITION,)))
    assert result.watermarks == {PARTITION: (20, 20)}
    assert {version for _, name, version in cluster.asked if name == "FetchWatermarks"} == {max(10, oldest_fetch + 1)}


def test_the_old_way_believes_a_follower() -> None:
    """What version 12 without an epoch is answered: this is why neither is used."""
    cluster = MovedCluster()
    old = cluster.call(OLD, FetchWatermarks(partitions=(PARTITION,)), LAST_BY_NAME).result
    assert old.watermarks == {PARTITION: (10, 10)}


def test_offsets_come_from_the_new_leader() -> None:
    asking = client(MovedCluster())
    assert asking.at_leader(PARTITION, ListOffsets(topic="t", partition=0)).offset == NEW


def test_producers_are_believed_only_if_the_same_broker_leads_after_it() -> None:
    cluster = MovedCluster()
    client(cluster).at_leader(PARTITION, DescribeProducers(topic="t", partition=0))
    described = [node for node, name, _ in cluster.asked if name == "DescribeProducers"]
    confirmed = [node for node, name, _ in cluster.asked if name == "ListOffsets"]
    assert (described, confirmed) == ([OLD, NEW], [OLD, NEW])


def test_a_coordinator_that_is_cut_off_is_not_believed() -> None:
    cluster = MovedCluster(old_knows=False)
    asking = client(cluster)
    with pytest.raises(Unreachable, match="broker 1 is not the coordinator of id"):
        asking.at_coordinator("id", DescribeTransactions(transactional_id="id"), timeout_seconds=0)
    assert "DescribeTransactions" not in {name for _, name, _ in cluster.asked}


def test_the_coordinator_by_the_newest_metadata_is_believed() -> None:
    cluster = MovedCluster(coordinator_by={OLD: NEW})
    asked = client(cluster).at_coordinator("id", DescribeTransactions(transactional_id="id"), timeout_seconds=0)
    assert asked.state == "as broker 2 keeps it"


def all_of(cluster: MovedCluster) -> Any:
    """Asks every broker."""
    return lambda request: [cluster.call(node, request).result for node in (OLD, NEW)]


@pytest.mark.parametrize(
    ("cluster", "node", "expected"),
    [
        (MovedCluster(), NEW, (NEW, 5)),
        (MovedCluster(), OLD, None),
        (MovedCluster(coordinator_by={OLD: OLD, NEW: OLD}), OLD, (NEW, 5)),
        (MovedCluster(lists_internal=False), OLD, (-1, -1)),
    ],
    ids=["the newest leader", "the old leader", "all brokers name it", "no internal topics"],
)
def test_who_coordinates(cluster: MovedCluster, node: int, expected: tuple[int, int] | None) -> None:
    assert coordination(node, "id", TRANSACTION, all_of(cluster)) == expected


def test_the_coordinator_must_be_the_same_before_and_after() -> None:
    cluster = MovedCluster(known={OLD: (OLD, 4), NEW: (OLD, 4)})
    asking, plain_call = client(cluster), cluster.call

    def move_meanwhile(node: int, request: object, version: int | None = None, *, timeout_seconds: float = 0) -> Any:
        answer = plain_call(node, request, version, timeout_seconds=timeout_seconds)
        if isinstance(request, DescribeTransactions):
            cluster.known[NEW] = (NEW, 5)
        return answer

    asking.client = type(  # type: ignore[assignment]
        "Moving", (), {"call": staticmethod(move_meanwhile), "highest": staticmethod(cluster.highest)}
    )
    with pytest.raises(Unreachable):
        asking.at_coordinator("id", DescribeTransactions(transactional_id="id"), timeout_seconds=0)


def test_the_epoch_is_put_into_every_request_that_has_one() -> None:
    def epoch_of(partition: TopicPartition) -> int:
        return 40 + partition[1]

    fetch = in_epoch(Fetch(topic="t", partition=1, offset=0), epoch_of)
    offsets = in_epoch(ListOffsets(topic="t", partition=2), epoch_of)
    levels = in_epoch(FetchWatermarks(partitions=(("t", 3), ("u", 4))), epoch_of)
    assert isinstance(fetch, Fetch)
    assert isinstance(offsets, ListOffsets)
    assert isinstance(levels, FetchWatermarks)
    assert (fetch.leader_epoch, offsets.leader_epoch) == (41, 42)
    assert levels.leader_epochs == {("t", 3): 43, ("u", 4): 44}
    producers = DescribeProducers(topic="t", partition=0)
    assert in_epoch(producers, epoch_of) is producers


def test_a_fetch_is_asked_at_a_version_that_leaders_alone_answer_where_there_is_one() -> None:
    assert version_of_leaders(MovedCluster(), OLD, Fetch.api) == LAST_OF_LEADERS
    assert version_of_leaders(MovedCluster(oldest_fetch=11), OLD, Fetch.api) == LAST_BY_NAME
    assert version_of_leaders(MovedCluster(), OLD, ListOffsets.api) == 17
