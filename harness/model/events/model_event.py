"""What happens beside requests: a timeout passes, a coordinator or a leader moves, a message between brokers waits.

A path may contain them between its requests. :func:`after_event` is the state that each leaves; where nothing is
held, everything that was under way is finished in it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from harness.model import protocol_step as step
from harness.model.coordinator_model import add_partitions
from harness.model.leader_model import UNVERIFIED, question, translated
from harness.model.model_requests import ModelRequest, PartitionWrite, ProduceAsked
from harness.model.model_state import ModelCluster
from harness.model.protocol_profile import ProtocolProfile


@dataclass(frozen=True, slots=True)
class TimeoutPasses:
    """As long as the transaction of an id may be open at most; nothing where none is open (KIP-98, KIP-588)."""

    id: str


@dataclass(frozen=True, slots=True)
class CoordinatorMoves:
    """Another broker loads each partition of ``__transaction_state``, so every id gets another coordinator."""


@dataclass(frozen=True, slots=True)
class LeaderMoves:
    """Another replica leads a partition."""

    partition: str


@dataclass(frozen=True, slots=True)
class MarkersWait:
    """From here to the end of the path WriteTxnMarkers of coordinators lie on their links."""


@dataclass(frozen=True, slots=True)
class WriteWaits:
    """A write has come to its leader, whose question to the coordinator lies on the link until the path is over.

    :param confirmed: The coordinator was asked and has said yes, and that lies on the link.
    """

    asked: ProduceAsked
    confirmed: bool


ModelEvent: TypeAlias = TimeoutPasses | CoordinatorMoves | LeaderMoves | MarkersWait | WriteWaits
ModelStep: TypeAlias = ModelRequest | ModelEvent
"""Of a path."""


def after_event(cluster: ModelCluster, event: ModelEvent, profile: ProtocolProfile) -> ModelCluster:
    """The state after it, from a settled one."""
    match event:
        case TimeoutPasses():
            aborted = step.timed_out(cluster, event.id, profile)
            return cluster if aborted is None else step.settled(aborted, profile)
        case CoordinatorMoves():
            return step.settled(step.coordinator_moved(cluster), profile)
        case LeaderMoves():
            return step.leader_moved(cluster, event.partition)
        case MarkersWait():
            return cluster
        case WriteWaits():
            return _asked_about(cluster, event, profile)


def _asked_about(cluster: ModelCluster, event: WriteWaits, profile: ProtocolProfile) -> ModelCluster:
    begun = step.begin_write(cluster, event.asked, profile)
    assert not isinstance(begun, step.ModelOutcome), "a write that the leader answers at once"
    cluster, number = begun
    assert number != UNVERIFIED, "a write about which nobody is asked"
    if not event.confirmed:
        return cluster
    answer, known = add_partitions(cluster.ids.get(event.asked.id), question(event.asked), profile)
    assert answer.accepted, "a write that the coordinator refuses"
    assert known is not None
    return cluster.with_id(event.asked.id, known)


def is_asked_about(cluster: ModelCluster, asked: PartitionWrite, profile: ProtocolProfile) -> bool:
    """Whether the leader asks the coordinator about the write."""
    begun = step.begin_write(cluster, asked, profile)
    return not isinstance(begun, step.ModelOutcome) and begun[1] != UNVERIFIED


def may_wait(cluster: ModelCluster, event: WriteWaits, profile: ProtocolProfile) -> bool:
    """Whether the leader asks the coordinator about the write, and is told yes where that is what waits."""
    if not is_asked_about(cluster, event.asked, profile):
        return False
    answer, _ = add_partitions(cluster.ids.get(event.asked.id), question(event.asked), profile)
    return answer.accepted or not event.confirmed


def let_go(began: ModelCluster, now: ModelCluster, event: WriteWaits, profile: ProtocolProfile) -> step.ModelOutcome:
    """What the write is answered, and leaves, once its question or the yes to it is let go.

    :param began: The state after the event, in which its verification has its number. :param now: The state by now.
    """
    asked = event.asked
    number = began.log(asked.partition).verifications[asked.producer_id].number
    if not event.confirmed:
        answer, known = add_partitions(now.ids.get(asked.id), question(asked), profile)
        now = now if known is None else now.with_id(asked.id, known)
        if not answer.accepted:
            return step.ModelOutcome(translated(asked, answer), now)
    return step.finish_write(now, asked, number, profile)


def markers_wait(path: Iterable[ModelStep]) -> bool:
    """Whether markers lie on their links at the end of a path."""
    return any(isinstance(one, MarkersWait) for one in path)


def waiting_write(path: Sequence[ModelStep]) -> WriteWaits | None:
    """The write that is under way at the end of a path."""
    last = path[-1] if path else None
    return last if isinstance(last, WriteWaits) else None


def events_of(path: Iterable[ModelStep]) -> tuple[str, ...]:
    """What must happen on the cluster, in its order: equal for paths that can be walked side by side.

    Leaders ask about one kind of client at a time, so writes of old and of new clients do not wait together.
    """
    return tuple(_kind(one) for one in path if isinstance(one, ModelEvent))


def _kind(event: ModelEvent) -> str:
    match event:
        case WriteWaits():
            return f"{type(event).__name__} v{event.asked.version} {'confirmed' if event.confirmed else 'asked'}"
        case LeaderMoves():
            return f"{type(event).__name__} {event.partition}"
        case _:
            return type(event).__name__


def after_path(cluster: ModelCluster, path: Iterable[ModelStep], profile: ProtocolProfile) -> ModelCluster:
    """The state that a path leads to, with everything finished that nothing holds."""
    held = False
    for one in path:
        cluster = after_step(cluster, one, profile, held=held)
        held = held or isinstance(one, MarkersWait)
    return cluster


def after_step(cluster: ModelCluster, one: ModelStep, profile: ProtocolProfile, *, held: bool) -> ModelCluster:
    """The state after a request or an event. :param held: Markers lie on their links."""
    if isinstance(one, ModelEvent):
        return after_event(cluster, one, profile)
    after = step.outcomes(cluster, one, profile)[0].after
    return after if held else step.settled(after, profile)
