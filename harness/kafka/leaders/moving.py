"""Another replica in the lead of a partition, by Kafka's own administration; and everything as it was when one is back.

The replicas are put into another order (AlterPartitionReassignments, KIP-455; where they are the same ones, nothing is
copied) and the first is elected (ElectLeaders, KIP-460).
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from harness.base import wait
from harness.base.kafka_error import KafkaError, error_name
from harness.base.unprepared import Unprepared
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.alter_partition_reassignments import AlterPartitionReassignments
from harness.wire.requests.cluster.elect_leaders import ElectLeaders
from harness.wire.topic_partitions import TopicPartition

ResultT = TypeVar("ResultT", bound=ApiResult)

ELECTED_SECONDS = 10.0
"""Within which brokers must know of a leader that the controller has elected."""
IN_SYNC_SECONDS = 15.0
"""That replicas get to be in sync before the preferred leaders are elected."""
ELECTED = (KafkaError.NONE, KafkaError.ELECTION_NOT_NEEDED)
"""Answers to ElectLeaders after which the wanted replica leads."""


class ElectingCluster(Protocol):
    """Of a cluster as its brokers know it; see :class:`harness.kafka.leaders.brokers_view.BrokersView`."""

    def leader(self, topic: str, partition: int) -> int | None: ...

    def replicated(self) -> bool: ...

    def to_controller(self, request: ApiRequest[ResultT]) -> ResultT: ...


def move(cluster: ElectingCluster, topic: str, partition: int, order: Sequence[int]) -> None:
    """Put the replicas into this order and elect the first; returns when brokers know it as the leader.

    :raises Unprepared: When the controller refuses.
    :raises TimedOut: When brokers do not get to know it.
    """
    elect(cluster, topic, partition, order)
    wait.until(
        lambda: cluster.leader(topic, partition) == order[0],
        what=f"broker {order[0]} as leader of {topic}-{partition}",
        timeout_seconds=ELECTED_SECONDS,
    )


def elect_all(cluster: ElectingCluster, orders: Mapping[TopicPartition, Sequence[int]]) -> None:
    """As :func:`elect`, of many partitions at once."""
    altered = cluster.to_controller(AlterPartitionReassignments(replicas={at: tuple(o) for at, o in orders.items()}))
    if altered.error:
        raise Unprepared(f"AlterPartitionReassignments answered {error_name(altered.error)} ({altered.error})")
    elected = cluster.to_controller(ElectLeaders(partitions=tuple(orders)))
    if refused := [error for error in (elected.error, *elected.partitions.values()) if error not in ELECTED]:
        raise Unprepared(f"ElectLeaders answered {error_name(refused[0])} ({refused[0]})")


def elect(cluster: ElectingCluster, topic: str, partition: int, order: Sequence[int]) -> None:
    """As :func:`move`, but returns as soon as the controller has elected the first of the order."""
    reassign(cluster, topic, partition, order)
    elected = cluster.to_controller(ElectLeaders(partitions=((topic, partition),)))
    if elected.error not in ELECTED:
        raise Unprepared(f"ElectLeaders answered {error_name(elected.error)} ({elected.error})")


def reassign(cluster: ElectingCluster, topic: str, partition: int, order: Sequence[int]) -> None:
    """Ask for these replicas in this order; :raises Unprepared: when the controller refuses."""
    altered = cluster.to_controller(AlterPartitionReassignments(replicas={(topic, partition): tuple(order)}))
    if altered.error:
        raise Unprepared(f"AlterPartitionReassignments answered {error_name(altered.error)} ({altered.error})")


def elect_preferred(cluster: ElectingCluster) -> None:
    """Have every partition led by its first replica again, once all replicas are in sync.

    Kafka does it by itself every five minutes (``auto.leader.rebalance.enable``). Until then a broker that came back
    leads nothing, coordinates nothing, and links to it carry nothing.

    :raises TimedOut: When the replicas do not catch up within :data:`IN_SYNC_SECONDS`.
    :raises Unprepared: When the controller refuses.
    """
    wait.until(cluster.replicated, what="full ISR", timeout_seconds=IN_SYNC_SECONDS, interval_seconds=0.05)
    error = cluster.to_controller(ElectLeaders(partitions=None)).error
    if error not in ELECTED:
        raise Unprepared(f"ElectLeaders answered {error_name(error)} ({error})")
