"""The slower part of the grid: states that an event leads to, and states in which a message between brokers waits.

Each reached state of the grid, with each event that can happen in it, times every request of the alphabet. States after
an event that differ in nothing that a name tells are one. What would wait itself is not asked: a write about which its
leader has to ask the coordinator too, while questions lie on the links. What a group's coordinator makes of another
one that loads is a matter of groups, and is left out. Behind them come the states that an id comes to
in the last epochs of its producer id (KIP-360, KIP-890).
"""

from collections.abc import Iterator, Mapping
from itertools import islice, product

from msgspec.structs import replace

from harness.model.alphabet import OWN, PARTITIONS, alphabet
from harness.model.events.model_event import (
    CoordinatorLoads,
    CoordinatorMoves,
    EpochsUsedUp,
    LeaderMoves,
    MarkersWait,
    ModelEvent,
    ModelStep,
    TimeoutPasses,
    after_path,
)
from harness.model.events.write_events import (
    WriteEvent,
    WriteLost,
    WritesOverlap,
    WriteWaits,
    is_asked_about,
    may_happen,
    moves_coordinator,
    overlap_words,
    waiting_write,
)
from harness.model.grid import (
    OLD_WRITE,
    OTHER_BEGINS,
    GridCell,
    ReachedState,
    reached_states,
    state_name,
    states_from,
)
from harness.model.model_requests import (
    EndTxnAsked,
    InitProducerIdAsked,
    ModelRequest,
    PartitionWrite,
    ProduceAsked,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import CoordinatorState, ModelCluster, fresh_cluster
from harness.model.protocol_profile import NEW_PROTOCOL_PRODUCE, ProtocolProfile

DEEPEST: Mapping[type[ModelEvent], int] = {
    CoordinatorMoves: 4,
    CoordinatorLoads: 3,
    LeaderMoves: 4,
    TimeoutPasses: 5,
    MarkersWait: 3,
    WriteWaits: 3,
    WriteLost: 3,
    WritesOverlap: 3,
}
"""Requests on the longest path to a state in which each may happen: walks go on from there."""
AFTERWARDS: Mapping[int, int] = {0: 2, 1: 1}
"""Requests between the last epochs and what is asked, at most, by how many epochs are left."""
WAITING_PARTITION = "A"
"""Of writes that wait, and the one whose leader moves."""


def slow_cells(
    profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]], limit: int | None = None
) -> Iterator[GridCell]:
    """Those after the shortest paths first, one kind of event after the other; at most ``limit``."""
    return islice(_cells(profile, offered), limit)


def _cells(profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]) -> Iterator[GridCell]:
    seen = set[tuple[str, str]]()
    for late, reached in product((False, True), [*reached_states(profile, offered)]):
        for more in _continued(reached, profile, offered):
            if _comes_later(more) != late or len(reached.path) > DEEPEST[type(more[0])]:
                continue
            after = after_path(reached.cluster, more, profile)
            state, way = state_name(after), " then ".join(map(words, more))
            if (state, way) not in seen:
                seen.add((state, way))
                path = (*reached.path, *more)
                yield from _asked_in(path, after, f"{state}; {way}", profile, offered)
    for left, deeper in AFTERWARDS.items():
        yield from _with_last_epochs(left, deeper, profile, offered)


def _comes_later(more: tuple[ModelStep, ...]) -> bool:
    """Behind all others: it may happen in states that differ in little, or is two events."""
    first = more[0]
    two = sum(isinstance(each, ModelEvent) for each in more) > 1 or moves_coordinator(first)
    return two or isinstance(first, WriteLost | WritesOverlap)


def _with_last_epochs(
    left: int, deeper: int, profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]
) -> Iterator[GridCell]:
    event = EpochsUsedUp(OWN, left)
    begun = (OTHER_BEGINS, InitProducerIdAsked(id=OWN, version=4), event)
    cluster = after_path(fresh_cluster(*PARTITIONS), begun, profile)
    start = ReachedState(name=state_name(cluster), path=begun, cluster=cluster)
    for reached in states_from(start, len(begun) + deeper, profile, offered):
        yield from _asked_in(reached.path, reached.cluster, f"{reached.name}; {words(event)}", profile, offered)


def _asked_in(
    path: tuple[ModelStep, ...],
    before: ModelCluster,
    state: str,
    profile: ProtocolProfile,
    offered: Mapping[str, tuple[int, int]],
) -> Iterator[GridCell]:
    waits = waiting_write(path) is not None
    for named in alphabet(before, offered):
        if before.loading and isinstance(named.asked, TxnOffsetCommitAsked):
            continue
        if not (waits and _would_wait(before, named.asked, profile)):
            yield GridCell(path=path, before=before, asked=named.asked, state=state, request=named.name)


def _would_wait(before: ModelCluster, asked: ModelRequest, profile: ProtocolProfile) -> bool:
    return isinstance(asked, PartitionWrite) and is_asked_about(before, asked, profile)


def _continued(
    reached: ReachedState, profile: ProtocolProfile, offered: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[ModelEvent, *tuple[ModelStep, ...]]]:
    """What may happen next in a state beside a client's request."""
    cluster = reached.cluster
    known = cluster.ids.get(OWN)
    if known is None:
        return
    yield (CoordinatorMoves(),)
    yield (CoordinatorLoads(),)
    log = cluster.log(WAITING_PARTITION)
    if known.producer_id in {*log.producers, *log.verifications}:
        yield (LeaderMoves(WAITING_PARTITION),)
    new = offered["Produce"][1] >= NEW_PROTOCOL_PRODUCE
    if known.state is CoordinatorState.ONGOING:
        yield (TimeoutPasses(OWN),)
        yield CoordinatorMoves(), TimeoutPasses(OWN)
        for version, commit in product((3, 5) if new else (3,), (True, False)):
            end = EndTxnAsked(id=OWN, version=version, producer_id=known.producer_id, epoch=known.epoch, commit=commit)
            yield (MarkersWait(), end)
            yield (MarkersWait(lost=True), end)
    for version in (OLD_WRITE, NEW_PROTOCOL_PRODUCE) if new else (OLD_WRITE,):
        events = _write_events(_next_write(cluster, version))
        yield from ((each,) for each in events if may_happen(cluster, each, profile))


def _next_write(cluster: ModelCluster, version: int) -> ProduceAsked:
    """Of the id's own identity."""
    own = cluster.ids[OWN]
    return ProduceAsked(
        id=OWN,
        version=version,
        partition=WAITING_PARTITION,
        producer_id=own.producer_id,
        epoch=own.epoch,
        sequence=cluster.log(WAITING_PARTITION).known(own.producer_id).next_sequence(own.epoch),
        value="waited",
    )


def _write_events(asked: ProduceAsked) -> Iterator[WriteEvent]:
    """Those that may happen to a write."""
    for confirmed in (False, True):
        yield WriteWaits(asked, confirmed)
        yield WriteWaits(asked, confirmed, moved=True)
        yield WriteLost(asked, confirmed)
    for epoch in (asked.epoch, asked.epoch + 1, asked.epoch - 1):
        if epoch >= 0:
            sequence = asked.sequence if epoch == asked.epoch else 0
            yield WritesOverlap(asked, replace(asked, epoch=epoch, sequence=sequence))


def words(one: ModelStep) -> str:
    """An event, or the request that it is about, as a row is named."""
    match one:
        case TimeoutPasses():
            return "its timeout has passed"
        case CoordinatorMoves():
            return "its coordinator has moved"
        case CoordinatorLoads():
            return "another coordinator loads"
        case LeaderMoves():
            return f"the leader of {one.partition} has moved"
        case MarkersWait():
            return "markers are lost" if one.lost else "markers wait"
        case EpochsUsedUp():
            return f"{one.left} epochs of its first producer id were left"
        case WriteWaits() | WriteLost() | WritesOverlap():
            return _words_of_write(one)
        case EndTxnAsked():
            return f"EndTxn v{one.version} {'commits' if one.commit else 'aborts'}"
    return type(one).__name__


def _words_of_write(one: WriteEvent) -> str:
    if isinstance(one, WritesOverlap):
        return f"two writes v{one.first.version} overlap, the second {overlap_words(one)}"
    what = "the yes to a write" if one.confirmed else "the question about a write"
    if isinstance(one, WriteLost):
        return f"{what} v{one.asked.version} is lost"
    return f"{what} v{one.asked.version} waits{' and its coordinator has moved' if one.moved else ''}"
