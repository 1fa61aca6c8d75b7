"""What may happen next in a trace: a request takes effect, in one step or several, or brokers do something themselves.

Between answers a marker may be written, a transaction complete or time out, a coordinator or a leader move. A write
takes effect in steps, because its leader asks the coordinator in between (KIP-890 part 1); so does a group's offset.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from harness.model import leader_model
from harness.model import protocol_step as step
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    ModelRequest,
    PartitionWrite,
    ToLeader,
)
from harness.model.model_state import Coordinated, CoordinatorState, ModelCluster
from harness.model.protocol_profile import ProtocolProfile
from harness.model.search.dead_requests import will_be_refused
from harness.model.traces.configuration import (
    Configuration,
    WriteUnderWay,
    leaders_know_the_same,
    renumbered,
    same_answer,
)
from harness.model.traces.traced_request import TracedRequest

ANYWHERE = ""
"""The place of what concerns the coordinator's whole knowledge of an id."""


class Concerns(Enum):
    """Whose knowledge of a partition a step reads or changes."""

    LEADER = "its leader's alone"
    COORDINATOR = "the coordinator's alone"
    BOTH = "both"


class TraceStep(Struct, frozen=True):
    """Something that may happen next.

    :param place: The partition that it concerns: its log, and whether it is part of the transaction; or ``ANYWHERE``.
    """

    place: str
    concerns: Concerns
    after: Configuration


def place_of(request: ModelRequest) -> str:
    """The partition that a request concerns, or ``ANYWHERE``."""
    if isinstance(request, ToLeader):
        return request.partition
    match request:
        case AddPartitionsAsked() if len(request.partitions) == 1:
            return next(iter(request.partitions))
        case AddOffsetsAsked():
            return request.group
        case _:
            return ANYWHERE


@dataclass(slots=True, kw_only=True)
class TraceSteps:
    """Of one trace under one profile; see :func:`harness.model.traces.trace_check.check_trace`.

    :param places: Of its requests.
    """

    trace: Sequence[TracedRequest]
    profile: ProtocolProfile
    timeout_ms: float
    expires: bool
    kept: bool
    places: Sequence[str] = field(init=False)

    def __post_init__(self) -> None:
        self.places = [place_of(one.request) for one in self.trace]

    def of_partitions(self, one: Configuration, only: str | None = None) -> Iterator[TraceStep]:
        """What concerns one partition each. :param only: No other one than this."""
        for marker in step.marker_steps(one.cluster, self.profile):
            if marker.partition and only in (None, marker.partition):
                yield TraceStep(marker.partition, Concerns.BOTH, self._changed(one, marker.after))
        for write in one.under_way:
            if only in (None, self.places[write.index]):
                yield from self._under_way(one, write)
        for index in one.waiting:
            if self.places[index] != ANYWHERE and only in (None, self.places[index]):
                yield from self.effects(one, index)
        for partition, log in one.cluster.logs.items():
            if log.verifications and only in (None, partition):
                moved = self._changed(one, step.leader_moved(one.cluster, partition))
                yield TraceStep(partition, Concerns.LEADER, moved)

    def of_coordinator(self, one: Configuration, now: float) -> Iterator[TraceStep]:
        """What concerns all that the coordinator knows."""
        for cluster in self._of_coordinator(one, now):
            yield TraceStep(ANYWHERE, Concerns.COORDINATOR, self._changed(one, cluster))
        for index in one.waiting:
            if self.places[index] == ANYWHERE:
                yield from self.effects(one, index)

    def coordinator_may_go_on(self, one: Configuration, now: float) -> bool:
        """Whether the coordinator may do anything more than to take in partitions.

        Without it nobody tells whether it has moved: what another one does not know is asked for by such a request.
        """
        if any(self.places[index] == ANYWHERE for index in one.waiting):
            return True
        known = one.cluster.ids.values()
        if any(each.state.preparing or (self.expires and _may_expire(each)) for each in known):
            return True
        return any(now - began >= self.timeout_ms for began in self._may_have_begun(one))

    def _may_have_begun(self, one: Configuration) -> Iterator[float]:
        """When an open transaction began, or one that a request opens in the present epoch."""
        if one.opened is not None:
            yield one.opened
        epochs = {known.epoch for known in one.cluster.ids.values()}
        for index in (*one.waiting, *(each.index for each in one.under_way)):
            if getattr(self.trace[index].request, "epoch", None) in epochs:
                yield self.trace[index].sent

    def effects(self, one: Configuration, index: int) -> Iterator[TraceStep]:
        """A request takes effect: at once, and a write also in the first of its steps.

        One without an answer that changes nothing now is left as it is: it may also come later.
        """
        if index not in one.waiting:
            return
        asked = one.asked(self.trace[index].request)
        if isinstance(asked, PartitionWrite):
            yield from self._written(one, index, asked)
        else:
            (outcome,) = step.outcomes(one.cluster, asked, self.profile)
            yield from self._effect(one, index, outcome, Concerns.BOTH)

    def _written(self, one: Configuration, index: int, asked: PartitionWrite) -> Iterator[TraceStep]:
        begun = step.begin_write(one.cluster, asked, self.profile)
        outcome = step.written_at_once(begun, asked, self.profile)
        if isinstance(begun, step.ModelOutcome) or begun[1] == leader_model.UNVERIFIED:
            yield from self._effect(one, index, outcome, Concerns.LEADER)
            return
        yield from self._effect(one, index, outcome, Concerns.BOTH)
        cluster, number = begun
        taken = one.taken(index)
        more = replace(taken, under_way=taken.under_way | {WriteUnderWay(index, number)})
        yield TraceStep(self.places[index], Concerns.LEADER, self._changed(more, cluster))

    def _effect(
        self, one: Configuration, index: int, outcome: step.ModelOutcome, concerns: Concerns
    ) -> Iterator[TraceStep]:
        if self.trace[index].answer is not None or outcome.after != one.cluster:
            for after in self._answered(one.taken(index), index, outcome):
                yield TraceStep(self.places[index], concerns, after)

    def _of_coordinator(self, one: Configuration, now: float) -> Iterator[ModelCluster]:
        settled = step.settled(one.cluster, self.profile)
        if settled is not one.cluster:
            yield settled
        for marker in step.marker_steps(one.cluster, self.profile):
            if not marker.partition:
                yield marker.after
        if one.opened is not None and now - one.opened >= self.timeout_ms:
            for name in one.cluster.ids:
                if (aborted := step.timed_out(one.cluster, name, self.profile)) is not None:
                    yield aborted
        for name, known in one.cluster.ids.items() if self.expires else ():
            if _may_expire(known):
                yield replace(one.cluster, ids=one.cluster.ids.without(name))
        yield self._moved(one.cluster)

    def _moved(self, cluster: ModelCluster) -> ModelCluster:
        """How often coordinators moved is not counted: markers carry it, and no client sees it."""
        again = step.markers_sent_again(cluster) if self.kept else step.coordinator_moved(cluster, self.profile)
        return replace(again, coordinator_epoch=cluster.coordinator_epoch)

    def _under_way(self, one: Configuration, write: WriteUnderWay) -> Iterator[TraceStep]:
        """What comes of a write whose leader asks the coordinator, or has asked it: it may hear of a yes later."""
        asked = one.asked(self.trace[write.index].request)
        assert isinstance(asked, PartitionWrite)
        without = replace(one, under_way=one.under_way - {write})
        if write.confirmed:
            outcome, concerns = step.finish_write(one.cluster, asked, write.number, self.profile), Concerns.LEADER
        else:
            outcome, concerns = step.asked_about(one.cluster, asked, write.number, self.profile), Concerns.BOTH
            yield from self._confirmed(without, write, asked)
        for after in self._answered(without, write.index, outcome):
            yield TraceStep(asked.partition, concerns, after)

    def _confirmed(self, without: Configuration, write: WriteUnderWay, asked: PartitionWrite) -> Iterator[TraceStep]:
        """The coordinator says yes, and its leader has not heard of it yet."""
        (told,) = step.outcomes(without.cluster, leader_model.question(asked), self.profile)
        if told.answer.accepted:
            waits = replace(without, under_way=without.under_way | {replace(write, confirmed=True)})
            after = self._changed(waits, told.after, self.trace[write.index].sent)
            yield TraceStep(asked.partition, Concerns.COORDINATOR, after)

    def _answered(self, taken: Configuration, index: int, outcome: step.ModelOutcome) -> Iterator[Configuration]:
        """The request has its effect, if its answer is the one that was given."""
        one = self.trace[index]
        if one.answer is None:
            yield self._changed(taken, outcome.after, one.sent)
        elif (ids := same_answer(taken.ids, outcome.answer, one.answer)) is not None:
            yield self._changed(replace(taken, ids=ids), outcome.after, one.sent)

    def _changed(self, one: Configuration, cluster: ModelCluster, sent: float = 0) -> Configuration:
        under_way = one.under_way and self._going_on(one, cluster)
        changed = replace(one, cluster=cluster, opened=self._opened(one, cluster, sent), under_way=under_way)
        return changed if leaders_know_the_same(one.cluster, cluster) else renumbered(changed)

    def _opened(self, one: Configuration, cluster: ModelCluster, sent: float) -> float | None:
        """When the open transaction began at the earliest: whichever added one of its partitions may have been first.

        So it makes no difference in which order they were added.
        """
        if cluster.ids is one.cluster.ids:
            return one.opened
        now, before = _open_partitions(cluster), _open_partitions(one.cluster)
        if now is None:
            return None
        if self.timeout_ms == 0:
            return float("-inf")
        if one.opened is None:
            return sent
        return one.opened if now == before else min(one.opened, sent)

    def _going_on(self, one: Configuration, cluster: ModelCluster) -> frozenset[WriteUnderWay]:
        """The writes under way, but for those without an answer that will be refused."""
        return frozenset(
            each
            for each in one.under_way
            if self.trace[each.index].answer is not None
            or not will_be_refused(one.asked(self.trace[each.index].request), cluster, confirmed=each.confirmed)
        )


def _may_expire(known: Coordinated) -> bool:
    """``TransactionState.isExpirationAllowed``."""
    return known.state is CoordinatorState.EMPTY or known.state.complete


def _open_partitions(cluster: ModelCluster) -> frozenset[str] | None:
    """Of the open transaction; None where there is none."""
    opened = [known.partitions for known in cluster.ids.values() if known.state is CoordinatorState.ONGOING]
    return frozenset().union(*opened) if opened else None
