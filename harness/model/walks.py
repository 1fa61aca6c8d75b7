"""Walks: long sequences of what several instances of one application may send, also late, once more, or unheard.

A walk is a list of :class:`WalkStep`, which can be drawn, cut and shrunk freely: what is left of one is a walk again.
:func:`requests_of` makes the requests of it. A message that is late is composed when its step comes and sent when a
later step lets it go: to a broker that is all that lateness is. What an instance knows comes from the model's answers,
so a walk is the same on every target, up to the first answer that differs. Events are steps too: a timeout passes, a
coordinator or a leader moves. The offset that a step commits is its place in the walk, so that no two are alike.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from harness.model.alphabet import OWN, PARTITIONS, offers_groups
from harness.model.events.model_event import (
    CoordinatorMoves,
    LeaderMoves,
    ModelEvent,
    ModelStep,
    TimeoutPasses,
    after_event,
)
from harness.model.grid import OLD_OFFSETS, OLD_WRITE, OTHER_BEGINS, GridCell, beginning, state_name
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelAnswer,
    ModelRequest,
    ProduceAsked,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import NONE, ModelCluster
from harness.model.protocol_profile import NEW_PROTOCOL_OFFSETS, NEW_PROTOCOL_PRODUCE, ProtocolProfile
from harness.model.protocol_step import outcomes, settled


class WalkAction(Enum):
    """What an instance does next; ``LET_GO`` sends its oldest late message. The last three happen beside instances."""

    START = "start"
    CLAIM = "claim"
    ADD = "add"
    WRITE = "write"
    ADD_OFFSETS = "add offsets"
    COMMIT_OFFSET = "commit offset"
    COMMIT = "commit"
    ABORT = "abort"
    LET_GO = "let go"
    TIME_OUT = "time out"
    MOVE_COORDINATOR = "move coordinator"
    MOVE_LEADER = "move leader"


@dataclass(frozen=True, slots=True)
class WalkStep:
    """One thing that an instance does.

    :param instance: Which, by index. :param partition: By index, where the action has one.
    :param new_protocol: Whether this message is of transactions of version 2, where the target offers them.
    :param late: It is kept back, until the instance lets it go. :param unheard: Its answer is lost.
    """

    action: WalkAction
    instance: int = 0
    partition: int = 0
    new_protocol: bool = False
    late: bool = False
    unheard: bool = False


OF_GROUPS = (WalkAction.ADD_OFFSETS, WalkAction.COMMIT_OFFSET)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkOffer:
    """What a target offers to walks.

    :param new_protocol: Transactions of version 2; without, all messages are of the old protocol.
    :param groups: Offsets in transactions, which can be looked at; without, their steps are left out.
    """

    new_protocol: bool = True
    groups: bool = True

    @classmethod
    def of(cls, offered: Mapping[str, tuple[int, int]]) -> "WalkOffer":
        """Of a target. :param offered: Lowest and highest version by API."""
        newest = offered.get("Produce", (0, 0))[1]
        return cls(new_protocol=newest >= NEW_PROTOCOL_PRODUCE, groups=offers_groups(offered))

    def also_of(self, other: "WalkOffer") -> "WalkOffer":
        """What both offer."""
        return WalkOffer(new_protocol=self.new_protocol and other.new_protocol, groups=self.groups and other.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkInstance:
    """What one instance knows, and has kept back.

    :param sequences: Of its epoch, by partition.
    """

    producer_id: int = NONE
    epoch: int = NONE
    sequences: Mapping[str, int] = field(default_factory=dict)
    late: tuple[ModelRequest, ...] = ()

    def compose(self, step: WalkStep, offset: int, *, new: bool) -> ModelRequest:
        """The request of a step; an instance without identity starts, whatever the step is.

        :param offset: That a group is given, where the step commits one.
        """
        identity = {"id": OWN, "producer_id": self.producer_id, "epoch": self.epoch}
        partition = PARTITIONS[step.partition]
        if step.action is WalkAction.START or self.producer_id == NONE:
            return InitProducerIdAsked(id=OWN, version=4)
        match step.action:
            case WalkAction.CLAIM:
                return InitProducerIdAsked(version=4, **identity)  # type: ignore[arg-type]
            case WalkAction.ADD:
                return AddPartitionsAsked(version=3, partitions=frozenset({partition}), **identity)  # type: ignore[arg-type]
            case WalkAction.WRITE:
                sequence = self.sequences.get(partition, 0)
                version = NEW_PROTOCOL_PRODUCE if new else OLD_WRITE
                return ProduceAsked(version=version, partition=partition, sequence=sequence, **identity)  # type: ignore[arg-type]
            case WalkAction.ADD_OFFSETS:
                return AddOffsetsAsked(version=3, **identity)  # type: ignore[arg-type]
            case WalkAction.COMMIT_OFFSET:
                version = NEW_PROTOCOL_OFFSETS if new else OLD_OFFSETS
                return TxnOffsetCommitAsked(version=version, offset=offset, **identity)  # type: ignore[arg-type]
            case _:
                commit = step.action is WalkAction.COMMIT
                return EndTxnAsked(version=5 if new else 3, commit=commit, **identity)  # type: ignore[arg-type]

    def heard(self, asked: ModelRequest, answer: ModelAnswer) -> "WalkInstance":
        """After an answer."""
        if not answer.accepted:
            return self
        if isinstance(asked, ProduceAsked):
            following = max(asked.sequence + 1, self.sequences.get(asked.partition, 0))
            return replace(self, sequences={**self.sequences, asked.partition: following})
        if answer.producer_id == NONE:
            return self
        return replace(self, producer_id=answer.producer_id, epoch=answer.epoch, sequences={})


EVENTS: Mapping[WalkAction, ModelEvent] = {
    WalkAction.TIME_OUT: TimeoutPasses(OWN),
    WalkAction.MOVE_COORDINATOR: CoordinatorMoves(),
    WalkAction.MOVE_LEADER: LeaderMoves(PARTITIONS[0]),
}
"""What happens beside instances."""


def path_of(steps: Sequence[WalkStep], profile: ProtocolProfile, offer: WalkOffer) -> tuple[ModelStep, ...]:
    """What is sent and happens, in order, after the InitProducerId of another id.

    Where nothing is late, nothing is let go.
    """
    return tuple(step for step, _ in _walked(steps, profile, offer))


def cell_of(steps: Sequence[WalkStep], profile: ProtocolProfile, offer: WalkOffer) -> GridCell | None:
    """The walk as a cell: its last request is what is asked; None where nothing is sent at all."""
    walked = [*_walked(steps, profile, offer)]
    while walked and isinstance(walked[-1][0], ModelEvent):
        walked.pop()  # what nobody asks after shows nothing
    if not walked:
        return None
    before = walked[-2][1] if len(walked) > 1 else beginning(profile)
    asked = walked[-1][0]
    assert not isinstance(asked, ModelEvent)
    return GridCell(
        path=(OTHER_BEGINS, *(each for each, _ in walked[:-1])),
        before=before,
        asked=asked,
        state=state_name(before),
        request=f"the last of a walk of {len(walked)}",
    )


def cut(steps: Sequence[WalkStep], shows: Callable[[Sequence[WalkStep]], bool]) -> Sequence[WalkStep]:
    """The walk without every step that can be left out while it still ``shows`` the difference."""
    for index in reversed(range(len(steps))):
        shorter = [*steps[:index], *steps[index + 1 :]]
        if shows(shorter):
            return cut(shorter, shows)
    return steps


def _walked(
    steps: Sequence[WalkStep], profile: ProtocolProfile, offer: WalkOffer
) -> Iterator[tuple[ModelStep, ModelCluster]]:
    """Each request or event, with the state that it leaves when all is settled."""
    cluster = beginning(profile)
    instances: dict[int, WalkInstance] = {}
    for offset, step in enumerate(steps):
        if step.action in OF_GROUPS and not offer.groups:
            continue
        if (event := EVENTS.get(step.action)) is not None:
            cluster = after_event(cluster, event, profile)
            yield event, cluster
            continue
        instance = instances.get(step.instance, WalkInstance())
        instance, asked = _next(instance, step, offset, new=step.new_protocol and offer.new_protocol)
        if asked is not None:
            outcome = outcomes(cluster, asked, profile)[0]
            cluster = settled(outcome.after, profile)
            instance = instance if step.unheard else instance.heard(asked, outcome.answer)
            yield asked, cluster
        instances[step.instance] = instance


def _next(
    instance: WalkInstance, step: WalkStep, offset: int, *, new: bool
) -> tuple[WalkInstance, ModelRequest | None]:
    if step.action is WalkAction.LET_GO:
        return replace(instance, late=instance.late[1:]), next(iter(instance.late), None)
    asked = instance.compose(step, offset, new=new)
    if step.late:
        return replace(instance, late=(*instance.late, asked)), None
    return instance, asked
