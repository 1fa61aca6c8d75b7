"""The cluster as far as the answers of a trace tell of it: without entries of logs, and without offsets of groups."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from harness.model.frozen_map import FrozenMap
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    ModelRequest,
    ProduceAsked,
    TxnOffsetCommitAsked,
    WriteMarkerAsked,
)
from harness.model.model_state import (
    Coordinated,
    CoordinatorState,
    GroupOffsets,
    KnownProducer,
    LogEntry,
    ModelCluster,
    PartitionLog,
    fresh_cluster,
)


class ToldLog(PartitionLog, frozen=True):
    """A log of which no entry is kept, so that every offset is 0: a producer's answers rest on no entry."""

    def appended(self, entry: LogEntry, known: KnownProducer) -> "ToldLog":
        """See the log that keeps its entries."""
        after = self.producers.put(entry.producer_id, known)
        return ToldLog((), after, self.verifications.without(entry.producer_id))


@dataclass(frozen=True, slots=True)
class UsedId:
    """A transactional id that was used before its trace begins: in the state Empty, with this producer id and epoch."""

    transactional_id: str
    producer_id: int
    epoch: int


def with_used_id(cluster: ModelCluster, used: UsedId) -> ModelCluster:
    """Its producer id is the model's first one."""
    known = Coordinated(CoordinatorState.EMPTY, producer_id=0, epoch=used.epoch)
    return replace(cluster.with_id(used.transactional_id, known), producer_ids=1)


def empty_cluster(requests: Iterable[ModelRequest], missing: frozenset[str] = frozenset()) -> ModelCluster:
    """With the groups that they name, and the partitions but for those that are missing; the partition that keeps a
    group has the group's name."""
    partitions, groups = set[str](), set[str]()
    for one in requests:
        match one:
            case AddPartitionsAsked():
                partitions |= one.partitions
            case ProduceAsked() | WriteMarkerAsked():
                partitions.add(one.partition)
            case AddOffsetsAsked() | TxnOffsetCommitAsked():
                groups.add(one.group)
    cluster = fresh_cluster(*sorted(groups))
    kept = {**cluster.groups, **{name: GroupOffsets() for name in sorted(groups)}}
    logs = {**cluster.logs, **{name: ToldLog() for name in sorted(partitions - missing - kept.keys())}}
    return replace(cluster, groups=FrozenMap(kept), logs=FrozenMap(logs))


def as_told(cluster: ModelCluster) -> tuple[ModelCluster, Mapping[int, int]]:
    """Without what makes no difference to any answer, and the new numbers of verifications that are left.

    No request of a trace asks for a group's offsets: only that there is a group makes a difference, to members.
    """
    live = [each.number for log in cluster.logs.values() for each in log.verifications.values()]
    numbers = {number: index for index, number in enumerate(dict.fromkeys(live))}
    for name, group in cluster.groups.items():
        if (log := cluster.logs[name]).entries:
            cluster = cluster.with_log(name, _without_entries(log))
        if group.pending or group.committed:
            cluster = cluster.with_group(name, GroupOffsets(exists=group.exists))
    if [*numbers] != [*numbers.values()]:
        cluster = _renumbered(cluster, numbers)
    if cluster.verifications != len(numbers) + 1:
        cluster = replace(cluster, verifications=len(numbers) + 1)
    return cluster, numbers


def _without_entries(log: PartitionLog) -> PartitionLog:
    """Of a group, whose offsets are known by no sequence."""
    producers = {
        id_: replace(known, batches=(), open_since=None if known.open_since is None else 0)
        for id_, known in log.producers.items()
    }
    return replace(log, entries=(), producers=FrozenMap(producers))


def _renumbered(cluster: ModelCluster, numbers: Mapping[int, int]) -> ModelCluster:
    for partition, log in cluster.logs.items():
        if log.verifications:
            verified = {id_: replace(each, number=numbers[each.number]) for id_, each in log.verifications.items()}
            cluster = cluster.with_log(partition, replace(log, verifications=FrozenMap(verified)))
    return cluster
