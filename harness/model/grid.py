"""The grid: every reachable state of a transactional id, times every request of the alphabet.

States are found breadth first, by what clients of both protocols do; those that differ only in numbers, or in the names
of partitions, are one. Each has the shortest sequence of requests that leads a fresh id there.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from harness.model.alphabet import OTHER, OWN, PARTITIONS, alphabet, is_used, offers_groups
from harness.model.events.model_event import ModelStep
from harness.model.groups.group_model import next_offset
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelRequest,
    ProduceAsked,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import GROUP, LAST_EPOCH, NONE, GroupOffsets, ModelCluster, PartitionLog, fresh_cluster
from harness.model.protocol_profile import NEW_PROTOCOL_OFFSETS, NEW_PROTOCOL_PRODUCE, ProtocolProfile
from harness.model.protocol_step import outcomes, settled

OTHER_BEGINS = InitProducerIdAsked(id=OTHER, version=4)
"""Another id is initialised first, so that it can be mistaken."""
DEPTH = 5
"""Requests of the longest path, the two first InitProducerId among them."""
MANY_WRITES = 12
"""Of one transaction to one partition: more than twice what is remembered of a producer."""
OLD_WRITE, OLD_OFFSETS = 9, 3
"""Versions of Produce and TxnOffsetCommit by which an old client writes on the way: all releases offer them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCell:
    """One question to a real cluster.

    :param path: What leads a fresh transactional id to the state; every request is accepted or told to wait.
    :param before: The state, settled unless the path holds something.
    :param state: In words: a row. :param request: In words: a column.
    """

    path: tuple[ModelStep, ...]
    before: ModelCluster
    asked: ModelRequest
    state: str
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedState:
    """A state and the shortest way there."""

    name: str
    path: tuple[ModelStep, ...]
    cluster: ModelCluster


def grid_cells(
    profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]], limit: int | None = None
) -> Iterator[GridCell]:
    """All cells, those of the nearest states first; at most ``limit``."""
    return islice(_cells(profile, offered), limit)


def _cells(profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]) -> Iterator[GridCell]:
    for reached in chain(reached_states(profile, offered), _after_many_writes(profile, offered)):
        for named in alphabet(reached.cluster, offered):
            yield GridCell(
                path=reached.path, before=reached.cluster, asked=named.asked, state=reached.name, request=named.name
            )


def beginning(profile: ProtocolProfile) -> ModelCluster:
    """The state after :data:`OTHER_BEGINS`, with which every path begins."""
    return outcomes(fresh_cluster(*PARTITIONS), OTHER_BEGINS, profile)[0].after


def reached_states(profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]) -> Iterator[ReachedState]:
    """Breadth first, from ids that were never used; another id has been initialised, so that it can be mistaken."""
    start = beginning(profile)
    return states_from(
        ReachedState(name=state_name(start), path=(OTHER_BEGINS,), cluster=start), DEPTH, profile, offered
    )


def _after_many_writes(profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]) -> Iterator[ReachedState]:
    """A producer of each protocol that has written more than its leader remembers of it (KIP-360)."""
    identity = {"id": OWN, "producer_id": beginning(profile).producer_ids, "epoch": 0}
    for version in _write_versions(offered):
        path: list[ModelRequest] = [OTHER_BEGINS, InitProducerIdAsked(id=OWN, version=4)]
        if version == OLD_WRITE:
            path.append(AddPartitionsAsked(version=3, partitions=frozenset(PARTITIONS[0]), **identity))  # type: ignore[arg-type]
        for sequence in range(MANY_WRITES):
            path.append(ProduceAsked(version=version, partition=PARTITIONS[0], sequence=sequence, **identity))  # type: ignore[arg-type]
        cluster = fresh_cluster(*PARTITIONS)
        for asked in path:
            cluster = settled(outcomes(cluster, asked, profile)[0].after, profile)
        yield ReachedState(
            name=f"{state_name(cluster)}; {MANY_WRITES} writes v{version}", path=tuple(path), cluster=cluster
        )


def _write_versions(offered: Mapping[str, tuple[int, int]]) -> tuple[int, ...]:
    """Of Produce: of an old client, and of a new one where there is one."""
    return (OLD_WRITE, NEW_PROTOCOL_PRODUCE) if offered["Produce"][1] >= NEW_PROTOCOL_PRODUCE else (OLD_WRITE,)


def states_from(
    start: ReachedState, depth: int, profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]
) -> Iterator[ReachedState]:
    """Breadth first. :param depth: Steps of the longest path, those of the start's own among them."""
    queue, seen = deque([start]), {start.name}
    while queue:
        reached = queue.popleft()
        yield reached
        for asked in _moves(reached.cluster, offered) if len(reached.path) < depth else ():
            after = settled(outcomes(reached.cluster, asked, profile)[0].after, profile)
            name = state_name(after)
            if name not in seen:
                seen.add(name)
                queue.append(ReachedState(name=name, path=(*reached.path, asked), cluster=after))


def _moves(cluster: ModelCluster, offered: Mapping[str, tuple[int, int]]) -> Iterator[ModelRequest]:
    """What a client may do next that is in order, in the old protocol and in the new one."""
    yield InitProducerIdAsked(id=OWN, version=4)
    known = cluster.ids.get(OWN)
    if known is None:
        return
    identity = {"id": OWN, "producer_id": known.producer_id, "epoch": known.epoch}
    new = offered["Produce"][1] >= NEW_PROTOCOL_PRODUCE
    yield InitProducerIdAsked(version=4, **identity)  # type: ignore[arg-type]
    if offers_groups(offered) and not any(is_used(cluster, each) for each in PARTITIONS):
        yield from _offset_moves(cluster, identity, new=new)
    for partition in _next_partitions(cluster):
        following = cluster.log(partition).known(known.producer_id).next_sequence(known.epoch)
        yield AddPartitionsAsked(version=3, partitions=frozenset(partition), **identity)  # type: ignore[arg-type]
        for version in _write_versions(offered):
            yield ProduceAsked(version=version, partition=partition, sequence=following, **identity)  # type: ignore[arg-type]
    for version in (3, 5) if new else (3,):
        for commit in (True, False):
            yield EndTxnAsked(version=version, commit=commit, **identity)  # type: ignore[arg-type]


def _offset_moves(cluster: ModelCluster, identity: Mapping[str, object], *, new: bool) -> Iterator[ModelRequest]:
    yield AddOffsetsAsked(version=3, **identity)  # type: ignore[arg-type]
    for version in (OLD_OFFSETS, NEW_PROTOCOL_OFFSETS) if new else (OLD_OFFSETS,):
        yield TxnOffsetCommitAsked(version=version, offset=next_offset(cluster.log(GROUP)), **identity)  # type: ignore[arg-type]


def _next_partitions(cluster: ModelCluster) -> tuple[str, ...]:
    """The second once the first is used, and none once the group is: what is mixed is a matter of walks."""
    if is_used(cluster, GROUP):
        return ()
    return PARTITIONS if is_used(cluster, PARTITIONS[0]) else PARTITIONS[:1]


def state_name(cluster: ModelCluster) -> str:
    """In words, with epochs told by their distance from the coordinator's: equal for states that are one.

    The first and the last epochs are told, because not every older or newer one exists beside them.
    """
    known = cluster.ids.get(OWN)
    if known is None:
        return "unknown id"
    added = "+".join(sorted(known.partitions))
    last = "" if known.last_epoch == NONE else f", last epoch {known.last_epoch - known.epoch:+d}"
    told = f", epoch {known.epoch}" if known.epoch < 2 or known.epoch >= LAST_EPOCH - 2 else ""
    told += "" if known.previous_id == NONE else ", a new producer id"
    logs = [_log_name(name, cluster.log(name), known.producer_id, known.epoch) for name in PARTITIONS]
    head = f"{known.state}{f' {added}' if added else ''}{told}{last}"
    group = _group_name(cluster.groups[GROUP], cluster.log(GROUP), known.producer_id, known.epoch)
    return "; ".join([head, *filter(None, [*logs, group])])


def _group_name(group: GroupOffsets, log: PartitionLog, producer_id: int, epoch: int) -> str:
    """How many batches there are makes no difference to a group."""
    waiting = ", unverified write" if producer_id in log.verifications else ""
    if producer_id not in log.producers:
        return f"{GROUP}:{waiting[1:]}" if waiting else ""
    known = log.known(producer_id)
    offsets = {"offset shown": group.committed, "offset pending": group.pending, "marked": known.coordinator_epoch + 1}
    told = ", ".join(name for name, there in offsets.items() if there)
    return f"{GROUP}: {_open(log, producer_id)}, epoch {known.epoch - epoch:+d}{told and ', '}{told}{waiting}"


def _open(log: PartitionLog, producer_id: int) -> str:
    return "open" if log.known(producer_id).open_since is not None else "closed"


def _log_name(name: str, log: PartitionLog, producer_id: int, epoch: int) -> str:
    verification = log.verifications.get(producer_id)
    waiting = "" if verification is None else f", unverified write {verification.lowest_sequence}"
    if producer_id not in log.producers:
        return f"{name}:{waiting[1:]}" if waiting else ""
    known = log.known(producer_id)
    batches = f"{len(known.batches)} batch{'' if len(known.batches) == 1 else 'es'}"
    told = f"{name}: {_open(log, producer_id)}, {batches}, epoch {known.epoch - epoch:+d}"
    return told + waiting + ("" if known.coordinator_epoch == NONE else ", marked")
