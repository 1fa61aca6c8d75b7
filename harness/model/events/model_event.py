"""What happens beside requests: a timeout passes, a coordinator or a leader moves, a message between brokers waits.

A path may contain them between its requests. :func:`after_event` is the state that each leaves; where nothing is
held, everything that was under way is finished in it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace

from harness.model import protocol_step as step
from harness.model.events.write_events import (
    WriteEvent,
    WriteLost,
    WritesOverlap,
    WriteWaits,
    after_writes,
    write_event_kind,
)
from harness.model.model_requests import ModelRequest
from harness.model.model_state import LAST_EPOCH, ModelCluster
from harness.model.protocol_profile import ProtocolProfile


@dataclass(frozen=True, slots=True)
class TimeoutPasses:
    """As long as the transaction of an id may be open at most; nothing where none is open (KIP-98, KIP-588)."""

    id: str


@dataclass(frozen=True, slots=True)
class CoordinatorMoves:
    """Another broker loads each partition of ``__transaction_state``, so every id gets another coordinator."""


@dataclass(frozen=True, slots=True)
class CoordinatorLoads:
    """Likewise, and what comes next comes while it loads; after that it has loaded."""


@dataclass(frozen=True, slots=True)
class LeaderMoves:
    """Another replica leads a partition."""

    partition: str


@dataclass(frozen=True, slots=True)
class MarkersWait:
    """From here to the end of the path WriteTxnMarkers of coordinators lie on their links.

    :param lost: Each is lost with its connection instead, as often as it is sent.
    """

    lost: bool = False


@dataclass(frozen=True, slots=True)
class EpochsUsedUp:
    """An id in Empty comes to the last epochs of its producer id, and its coordinator moves.

    That is what its coordinator reads in its log; by requests it takes tens of thousands of them.

    :param left: Epochs that a client may still be given.
    """

    id: str
    left: int

    @property
    def epoch(self) -> int:
        """That the id comes to."""
        return LAST_EPOCH - 1 - self.left


ModelEvent: TypeAlias = (
    TimeoutPasses | CoordinatorMoves | CoordinatorLoads | LeaderMoves | EpochsUsedUp | MarkersWait | WriteEvent
)
ModelStep: TypeAlias = ModelRequest | ModelEvent
"""Of a path."""


def after_event(cluster: ModelCluster, event: ModelEvent, profile: ProtocolProfile) -> ModelCluster:
    """The state after it, from a settled one."""
    match event:
        case TimeoutPasses():
            aborted = step.timed_out(cluster, event.id, profile)
            return cluster if aborted is None else step.settled(aborted, profile)
        case CoordinatorMoves():
            return step.settled(step.coordinator_moved(cluster, profile), profile)
        case CoordinatorLoads():
            return replace(step.coordinator_moved(cluster, profile), loading=True)
        case LeaderMoves():
            return step.leader_moved(cluster, event.partition)
        case MarkersWait():
            return cluster
        case EpochsUsedUp():
            return step.coordinator_moved(
                cluster.with_id(event.id, replace(cluster.ids[event.id], epoch=event.epoch)), profile
            )
        case WriteWaits() | WriteLost() | WritesOverlap():
            return after_writes(cluster, event, profile).after


def markers_wait(path: Iterable[ModelStep]) -> bool:
    """Whether markers lie on their links at the end of a path."""
    return any(isinstance(one, MarkersWait) for one in path)


def events_of(path: Iterable[ModelStep]) -> tuple[str, ...]:
    """What must happen on the cluster, in its order: equal for paths that can be walked side by side."""
    return tuple(_kind(one) for one in path if isinstance(one, ModelEvent))


def _kind(event: ModelEvent) -> str:
    match event:
        case WriteWaits() | WriteLost() | WritesOverlap():
            return write_event_kind(event)
        case LeaderMoves():
            return f"{type(event).__name__} {event.partition}"
        case MarkersWait(lost=True):
            return f"{type(event).__name__} lost"
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
