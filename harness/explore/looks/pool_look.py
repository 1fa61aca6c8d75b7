"""One look at all that the cells of a batch leave behind: coordinators, leaders, logs, last stable offsets."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from harness.base import wait
from harness.explore.asker import at_highest
from harness.explore.explored_cluster import ExploredCluster, PartitionPool
from harness.explore.looks.committed_look import leaked_offsets
from harness.explore.looks.group_look import GroupToLookAt, ShownOffset, are_loaded, look_at_groups
from harness.explore.looks.listed_ends import by_leader, listed_ends
from harness.explore.looks.stale_route import require_sound
from harness.kafka.in_charge import version_of_leaders
from harness.kafka.retriable import STALE_ROUTE
from harness.wire.records.record_batch import LogBatch
from harness.wire.records.transaction_state import TransactionState
from harness.wire.requests.log.fetch import READ_COMMITTED, Fetch
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.requests.transactions.describe_producers import (
    ActiveProducer,
    DescribeProducersOf,
    DescribeProducersOfResult,
)
from harness.wire.requests.transactions.describe_transactions import (
    DescribedTransaction,
    DescribeTransactionsOf,
    DescribeTransactionsOfResult,
)
from harness.wire.topic_partitions import TopicPartition, partition_name

AT_ONCE = 200
"""Transactional ids in one DescribeTransactions."""
LOADED_SECONDS = 30.0
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLook:
    """What was seen, by real names and numbers.

    :param producers: By partition and producer id. :param batches: Likewise, each producer's in log order.
    :param ends: High watermarks. :param stable: Last stable offsets, but not where groups are kept: other cells write
        there at the same time.
    :param groups: What OffsetFetch shows, of the groups that were asked for.
    :param leaked: Offsets of batches that a consumer of committed records is shown behind the last stable offset.
    :param records: What coordinators have written, by transactional id; None where that is not looked at.
    """

    ids: Mapping[str, DescribedTransaction]
    producers: Mapping[TopicPartition, Mapping[int, ActiveProducer]]
    batches: Mapping[TopicPartition, Mapping[int, Sequence[LogBatch]]]
    ends: Mapping[TopicPartition, int]
    stable: Mapping[TopicPartition, int]
    groups: Mapping[str, ShownOffset] = field(default_factory=dict)
    leaked: Mapping[TopicPartition, int] = field(default_factory=dict)
    records: Mapping[str, Sequence[TransactionState]] | None = None


def look_at(
    cluster: ExploredCluster, pool: PartitionPool, ids: Sequence[str], groups: Mapping[str, GroupToLookAt]
) -> PoolLook:
    """Coordinators first: an id that is seen complete has written its markers.

    :raises WireError, Unprepared: When it cannot be seen. :raises StaleRoute: As :func:`require_sound`.
    """
    described = described_ids(cluster, ids)
    for error in {each["error"] for each in described.values()} & STALE_ROUTE:
        require_sound(DescribeTransactionsOf.api, error)
    offsets = look_at_groups(cluster.observer, groups)
    producers = _producers(cluster, pool)
    batches, ends = _logs(cluster, pool)
    stable = _stable(cluster, pool)
    return PoolLook(
        ids=described,
        producers=producers,
        batches=batches,
        ends=ends,
        stable=stable,
        groups=offsets,
        leaked=leaked_offsets(cluster, pool.leaders, stable, ends),
        records=None if cluster.records is None else cluster.records.of(ids, cluster.state_leaders()),
    )


def await_loaded(cluster: ExploredCluster) -> None:
    """Wait until every coordinator has loaded what it keeps, as it does when the topic has just been made.

    :raises TimedOut: When one has not in time.
    """
    names = cluster.names_of_each_partition()

    def loaded() -> bool:
        cluster.look_up_coordinators()
        shown = described_ids(cluster, names)
        ids_loaded = all(each["error"] not in STALE_ROUTE for each in shown.values())
        return ids_loaded and are_loaded(cluster.observer, cluster.groups_of_each_partition())

    wait.until(loaded, what="coordinators that have loaded", timeout_seconds=LOADED_SECONDS, interval_seconds=0.05)


def described_ids(cluster: ExploredCluster, ids: Sequence[str]) -> Mapping[str, DescribedTransaction]:
    """What the coordinator of each shows of it."""
    by_node: dict[int, list[str]] = defaultdict(list)
    for each in ids:
        by_node[cluster.coordinator(each)].append(each)
    requests = {
        node: [DescribeTransactionsOf(transactional_ids=some) for some in _batched(names)]
        for node, names in by_node.items()
    }
    found: dict[str, DescribedTransaction] = {}
    for answer in at_highest(cluster.observer, requests):
        assert isinstance(answer, DescribeTransactionsOfResult)
        found |= answer.transactions
    return found


def _producers(cluster: ExploredCluster, pool: PartitionPool) -> Mapping[TopicPartition, Mapping[int, ActiveProducer]]:
    requests = {
        leader: [DescribeProducersOf(partitions=tuple(places))] for leader, places in by_leader(pool.everywhere).items()
    }
    shown: dict[TopicPartition, Mapping[int, ActiveProducer]] = {}
    for answer in at_highest(cluster.observer, requests):
        assert isinstance(answer, DescribeProducersOfResult)
        require_sound(DescribeProducersOf.api, answer.error)
        by_name = {partition_name(*place): place for place in pool.everywhere}
        for name, part in answer.partitions.items():
            shown[by_name[name]] = {each["producer_id"]: each for each in part["producers"]}
    return shown


def _logs(
    cluster: ExploredCluster, pool: PartitionPool
) -> tuple[Mapping[TopicPartition, Mapping[int, Sequence[LogBatch]]], Mapping[TopicPartition, int]]:
    begins = pool.group_ends
    read = {place: _log(cluster, place, leader, begins.get(place, 0)) for place, leader in pool.everywhere.items()}
    grouped: dict[TopicPartition, Mapping[int, Sequence[LogBatch]]] = {}
    for place, (batches, _) in read.items():
        by_producer: dict[int, list[LogBatch]] = defaultdict(list)
        for batch in batches:
            by_producer[batch.producer_id].append(batch)
        grouped[place] = by_producer
    return grouped, {place: end for place, (_, end) in read.items()}


def _log(cluster: ExploredCluster, place: TopicPartition, leader: int, offset: int) -> tuple[Sequence[LogBatch], int]:
    """All of it from an offset on, with its high watermark; raw, control batches among them."""
    version = version_of_leaders(cluster.observer, leader, Fetch.api)
    batches: list[LogBatch] = []
    while True:
        request = Fetch(topic=place[0], partition=place[1], offset=offset)
        answer = cluster.observer.call(leader, request, version).result
        require_sound(Fetch.api, answer.error)
        batches += answer.batches
        if answer.next_offset in (offset, answer.high_watermark):
            return batches, answer.high_watermark
        offset = answer.next_offset


def _stable(cluster: ExploredCluster, pool: PartitionPool) -> Mapping[TopicPartition, int]:
    listed = listed_ends(cluster.observer, pool.leaders, READ_COMMITTED)
    for answer in listed.values():
        require_sound(ListOffsets.api, answer.error)
    return {place: answer.offset for place, answer in listed.items()}


def _batched(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    left = iter(items)
    while some := tuple(islice(left, AT_ONCE)):
        yield some
