"""The cluster as far as the answers of a trace tell of it: without entries of logs, and without offsets of groups."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

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
    ModelCluster,
    PartitionLog,
    fresh_cluster,
)


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


def empty_cluster(requests: Iterable[ModelRequest]) -> ModelCluster:
    """With the partitions and the groups that they name; the partition that keeps a group has the group's name."""
    partitions, groups = set[str](), set[str]()
    for one in requests:
        match one:
            case AddPartitionsAsked():
                partitions |= one.partitions
            case ProduceAsked() | WriteMarkerAsked():
                partitions.add(one.partition)
            case AddOffsetsAsked() | TxnOffsetCommitAsked():
                groups.add(one.group)
    cluster = fresh_cluster(*sorted(partitions | groups))
    kept = {**cluster.groups, **{name: GroupOffsets() for name in sorted(groups)}}
    return replace(cluster, groups=FrozenMap(kept))


def as_told(cluster: ModelCluster) -> tuple[ModelCluster, Mapping[int, int]]:
    """Without what makes no difference to any answer, and the new numbers of verifications that are left.

    No request of a trace asks for a group's offsets: only that there is a group makes a difference, to members.
    """
    live = [each.number for log in cluster.logs.values() for each in log.verifications.values()]
    numbers = {number: index for index, number in enumerate(dict.fromkeys(live))}
    groups = cluster.groups.keys()
    for partition, log in cluster.logs.items():
        if log.entries or log.verifications:
            cluster = cluster.with_log(partition, _without_entries(log, numbers, batches=partition not in groups))
    for name, group in cluster.groups.items():
        if group.pending or group.committed:
            cluster = cluster.with_group(name, GroupOffsets(exists=group.exists))
    return replace(cluster, verifications=len(numbers) + 1), numbers


def _without_entries(log: PartitionLog, numbers: Mapping[int, int], *, batches: bool) -> PartitionLog:
    """:param batches: Whether repetitions are known by them, as a group's offsets are not."""
    producers = {
        id_: replace(
            known,
            batches=tuple((sequence, 0) for sequence, _ in known.batches) if batches else (),
            open_since=None if known.open_since is None else 0,
        )
        for id_, known in log.producers.items()
    }
    verifications = {id_: replace(each, number=numbers[each.number]) for id_, each in log.verifications.items()}
    return PartitionLog(producers=FrozenMap(producers), verifications=FrozenMap(verifications))
