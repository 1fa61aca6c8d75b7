"""Writes about which their leader asks the coordinator, while the question, or the answer to it, waits or is lost.

A leader has one question to a broker under way at a time; writes that come meanwhile are asked about in the next one,
in which each transactional id has one place (``AddPartitionsToTxnManager``).
"""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from harness.model.coordinator_model import add_partitions
from harness.model.leader_model import OLD_EPOCH, UNVERIFIED, question
from harness.model.model_requests import ModelAnswer, PartitionWrite, ProduceAsked
from harness.model.model_state import ModelCluster
from harness.model.protocol_profile import ProtocolProfile
from harness.model.protocol_step import (
    ModelOutcome,
    asked_about,
    begin_write,
    coordinator_moved,
    finish_write,
)

TRY_AGAIN = ModelAnswer("NOT_ENOUGH_REPLICAS")
"""To a write whose question had no answer, or not its coordinator's, whatever its version (``ReplicaManager``)."""


class WriteWaits(Struct, frozen=True):
    """A write has come to its leader, whose question to the coordinator lies on the link until the path is over.

    :param confirmed: The coordinator was asked and has said yes, and that lies on the link.
    :param moved: Then another broker becomes the coordinator.
    """

    asked: ProduceAsked
    confirmed: bool
    moved: bool = False


class WriteLost(Struct, frozen=True):
    """The question about a write is lost with its connection; the write is answered then.

    :param confirmed: The coordinator was asked and has said yes, and that is lost.
    """

    asked: ProduceAsked
    confirmed: bool


class WritesOverlap(Struct, frozen=True):
    """A second write of the id comes before the leader has asked about the first, and both are answered."""

    first: ProduceAsked
    second: ProduceAsked


WriteEvent: TypeAlias = WriteWaits | WriteLost | WritesOverlap


class WritesAnswered(Struct, frozen=True):
    """What such an event leaves.

    :param allowed: What its writes may be answered, each in the order of the writes; () where they wait.
    """

    after: ModelCluster
    allowed: tuple[tuple[ModelAnswer, ...], ...]


def writes_of(event: WriteEvent) -> tuple[ProduceAsked, ...]:
    """In the order in which they are sent."""
    return (event.first, event.second) if isinstance(event, WritesOverlap) else (event.asked,)


def moves_coordinator(event: object) -> bool:
    """Whether another broker becomes the coordinator while a write waits."""
    return isinstance(event, WriteWaits) and event.moved


def after_writes(cluster: ModelCluster, event: WriteEvent, profile: ProtocolProfile) -> WritesAnswered:
    """What it leaves in a settled state in which it may happen."""
    match event:
        case WriteWaits():
            after = _asked_about(cluster, event.asked, profile, confirmed=event.confirmed)
            return WritesAnswered(coordinator_moved(after, profile) if event.moved else after, ((),))
        case WriteLost():
            after = _asked_about(cluster, event.asked, profile, confirmed=event.confirmed)
            return WritesAnswered(after, ((TRY_AGAIN,),))
        case WritesOverlap():
            return _overlapping(cluster, event.first, event.second, profile)


def _asked_about(
    cluster: ModelCluster, asked: ProduceAsked, profile: ProtocolProfile, *, confirmed: bool
) -> ModelCluster:
    cluster, _ = _begun(cluster, asked, profile)
    if not confirmed:
        return cluster
    answer, known = add_partitions(cluster.ids.get(asked.id), question(asked), profile)
    assert answer.accepted, "a write that the coordinator refuses"
    assert known is not None
    return cluster.with_id(asked.id, known)


def _overlapping(
    cluster: ModelCluster, first: ProduceAsked, second: ProduceAsked, profile: ProtocolProfile
) -> WritesAnswered:
    """One of them has the id's place: that of the newer epoch, and of two of one epoch the one that came last.

    ``AddPartitionsToTxnManager.addTxnData``: what is fenced so is told the epoch, and a repetition to try again.
    """
    cluster, number = _begun(cluster, first, profile)
    if second.epoch < first.epoch:
        done = asked_about(cluster, first, number, profile)
        return WritesAnswered(done.after, ((done.answer, OLD_EPOCH),))
    cluster, number = _begun(cluster, second, profile)
    done = asked_about(cluster, second, number, profile)
    if second.epoch > first.epoch:
        return WritesAnswered(done.after, ((OLD_EPOCH, done.answer),))
    return WritesAnswered(done.after, ((TRY_AGAIN, done.answer), (done.answer, TRY_AGAIN)))


def _begun(cluster: ModelCluster, asked: ProduceAsked, profile: ProtocolProfile) -> tuple[ModelCluster, int]:
    begun = begin_write(cluster, asked, profile)
    assert not isinstance(begun, ModelOutcome), "a write that the leader answers at once"
    assert begun[1] != UNVERIFIED, "a write about which nobody is asked"
    return begun


def is_asked_about(cluster: ModelCluster, asked: PartitionWrite, profile: ProtocolProfile) -> bool:
    """Whether the leader asks the coordinator about the write."""
    begun = begin_write(cluster, asked, profile)
    return not isinstance(begun, ModelOutcome) and begun[1] != UNVERIFIED


def may_happen(cluster: ModelCluster, event: WriteEvent, profile: ProtocolProfile) -> bool:
    """Whether the leader asks the coordinator about the writes, and is told yes where that is what waits or is lost."""
    if isinstance(event, WritesOverlap):
        return all(is_asked_about(cluster, each, profile) for each in writes_of(event))
    if not is_asked_about(cluster, event.asked, profile):
        return False
    answer, _ = add_partitions(cluster.ids.get(event.asked.id), question(event.asked), profile)
    return answer.accepted or not event.confirmed


def let_go(began: ModelCluster, now: ModelCluster, event: WriteWaits, profile: ProtocolProfile) -> ModelOutcome:
    """What the write is answered, and leaves, once its question or the yes to it is let go.

    :param began: The state after the event, in which its verification has its number. :param now: The state by now.
    """
    asked = event.asked
    number = began.log(asked.partition).verifications[asked.producer_id].number
    if event.confirmed:
        return finish_write(now, asked, number, profile)
    if event.moved:  # the one that is asked answers NOT_COORDINATOR (``AddPartitionsToTxnManager``)
        return ModelOutcome(TRY_AGAIN, now)
    return asked_about(now, asked, number, profile)


def write_event_kind(event: WriteEvent) -> str:
    """Equal for those that can be brought about side by side: leaders ask about one kind of client at a time."""
    if isinstance(event, WritesOverlap):
        return f"{type(event).__name__} v{event.first.version} {overlap_words(event)}"
    moved = ", moved" if moves_coordinator(event) else ""
    return f"{type(event).__name__} v{event.asked.version} {'confirmed' if event.confirmed else 'asked'}{moved}"


def overlap_words(event: WritesOverlap) -> str:
    """How the second write stands to the first."""
    if event.second.epoch == event.first.epoch:
        return "repeated"
    return "newer epoch" if event.second.epoch > event.first.epoch else "older epoch"


def waiting_write(path: Sequence[object]) -> WriteWaits | None:
    """The write that is under way at the end of a path."""
    last = path[-1] if path else None
    return last if isinstance(last, WriteWaits) else None
