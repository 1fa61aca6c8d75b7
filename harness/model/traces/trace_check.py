"""Whether an order of the unsure requests explains what one transactional id was answered: a trace against the model.

Just-in-time linearization (Lowe, "Testing for linearizability", 2017; Porcupine): a request takes effect at one moment
between its sending and its answer, one without an answer at any later moment, or never; nothing is decided about it
before an answer needs it. Where that tells an epoch, the search goes straight to it (``told_epoch``). Ids are
independent, as Porcupine's partitions are, so each is searched by itself.

Between answers a marker may be written, a transaction complete or time out, a coordinator or a leader move. A write
takes effect in steps, because its leader asks the coordinator in between (KIP-890 part 1); so does a group's offset.

Requests of one transactional id are covered that change its transaction: InitProducerId, AddPartitionsToTxn,
AddOffsetsToTxn, Produce, TxnOffsetCommit, EndTxn. What a group shows (OffsetFetch) and who its members are is not.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from harness.model import coordinator_model, leader_model
from harness.model import protocol_step as step
from harness.model.frozen_map import FrozenMap
from harness.model.model_requests import ModelAnswer, ModelRequest, PartitionWrite
from harness.model.model_state import NONE, CoordinatorState, ModelCluster
from harness.model.protocol_profile import ProtocolProfile
from harness.model.search.dead_requests import is_dead, will_be_refused
from harness.model.traces.configuration import (
    Configuration,
    SeenConfigurations,
    WriteUnderWay,
    leaders_know_the_same,
    renumbered,
    same_answer,
)
from harness.model.traces.told_epoch import NearestFirst, ToldEpoch, told_epoch
from harness.model.traces.traced_cluster import UsedId, empty_cluster, with_used_id

MOST = 50_000
"""Configurations that are looked at before a search is given up, beside those that each answer needs."""
FOR_EACH = 3
"""Needed by an answer: a transaction's markers and its completion come between two of them."""


class TracedRequest(Struct, frozen=True, kw_only=True):
    """A request as its client knows it; producer ids are the cluster's.

    :param answer: None where there was none, or one that says nothing about the state, such as a retriable code.
    :param answered: When; None as ``answer``. :param who: The client, for people.
    :param copies: How many were sent alike; more than one only without an answer.
    :param until: When others that were sent then began to stand for them; None where none do.
    """

    request: ModelRequest
    sent: float
    answer: ModelAnswer | None = None
    answered: float | None = None
    who: str = ""
    copies: int = 1
    until: float | None = None


class Explained(StrEnum):
    """What a search came to."""

    YES = "explained"
    NO = "not explained"
    GIVEN_UP = "given up"


class TraceVerdict(Struct, frozen=True, kw_only=True):
    """Of one trace under one profile.

    :param prefix: What is not explained: the answered requests up to the first answer that no order leads to.
    :param allowed: What the model may answer there, in any order that explains the answers before; a producer id that
        was not known yet is NONE.
    :param configurations: How many were looked at.
    """

    explained: Explained
    prefix: Sequence[TracedRequest] = ()
    allowed: frozenset[ModelAnswer] = frozenset()
    configurations: int


def check_trace(
    trace: Sequence[TracedRequest],
    profile: ProtocolProfile,
    *,
    timeout_ms: float = 0,
    expires: bool = False,
    used: UsedId | None = None,
    missing: frozenset[str] = frozenset(),
    kept: bool = False,
    most: int = MOST,
) -> TraceVerdict:
    """Search for an order, nearest first; each answer is tried in the first order found for those before it.

    :param timeout_ms: Of transactions: none times out sooner after the request that may have begun it was sent. With 0
        it may at any time, which is right where the timeout is not known, and explains more.
    :param expires: Whether the coordinator may forget the id while nothing of it is open.
    :param used: What the id was before; None where nobody had used it.
    :param missing: Partitions that requests name, and that no topic has.
    :param kept: Whether one coordinator had the id all the time; otherwise others may have loaded it at any time.
    """
    return _Search(trace, profile, timeout_ms, expires, used, missing, kept, most).run()


@dataclass(slots=True)
class _Search:
    trace: Sequence[TracedRequest]
    profile: ProtocolProfile
    timeout_ms: float
    expires: bool
    used: UsedId | None
    missing: frozenset[str]
    kept: bool
    most: int
    answers: Sequence[int] = field(init=False)
    told_epochs: Sequence[ToldEpoch | None] = field(init=False)
    seen: list[SeenConfigurations] = field(init=False)
    sent: list[Counter[int]] = field(init=False)
    stood_for: list[set[int]] = field(init=False)
    looked_at: int = 0

    def __post_init__(self) -> None:
        """Answers in their order; those that say nothing are none.

        Requests without an answer that are alike count as copies of the first: which of them comes makes no difference.
        """
        self.told_epochs = [told_epoch(one.request, one.answer) for one in self.trace]
        told = [index for index, one in enumerate(self.trace) if one.answer is not None]
        self.answers = sorted(told, key=lambda index: self._when(index))
        answered = frozenset(told)
        self.seen = [SeenConfigurations(answered) for _ in self.answers]
        self.sent = [Counter() for _ in self.answers]
        self.stood_for = [set() for _ in self.answers]
        times, first = [self._when(index) for index in self.answers], dict[ModelRequest, int]()
        for index, one in enumerate(self.trace):
            if (position := bisect_left(times, one.sent)) < len(times):
                alone = one.answer is not None or one.until is not None
                self.sent[position][index if alone else first.setdefault(one.request, index)] += one.copies
            if one.until is not None and (position := bisect_left(times, one.until)) < len(times):
                self.stood_for[position].add(index)

    def run(self) -> TraceVerdict:
        """Depth first over the answers, so that a trace that is explained costs little more than its length."""
        if not self.answers:
            return TraceVerdict(explained=Explained.YES, configurations=0)
        stack = [self._explaining(0, self._before())]
        while stack:
            after = next(stack[-1], None)
            if self.looked_at > self._most:
                return TraceVerdict(explained=Explained.GIVEN_UP, configurations=self.looked_at)
            if after is None:
                stack.pop()
            elif len(stack) == len(self.answers):
                return TraceVerdict(explained=Explained.YES, configurations=self.looked_at)
            else:
                stack.append(self._explaining(len(stack), after))
        return self._not_explained()

    def _before(self) -> Configuration:
        cluster = empty_cluster((one.request for one in self.trace), self.missing)
        if self.used is None:
            return renumbered(Configuration(cluster))
        return renumbered(Configuration(with_used_id(cluster, self.used), FrozenMap({0: self.used.producer_id})))

    @property
    def _most(self) -> int:
        return self.most + FOR_EACH * len(self.answers)

    def _not_explained(self) -> TraceVerdict:
        furthest = max(position for position, seen in enumerate(self.seen) if seen)
        index = self.answers[furthest]
        allowed = {told for one in self.seen[furthest] for told in self._could_answer(one, index)}
        return TraceVerdict(
            explained=Explained.NO,
            prefix=tuple(self.trace[each] for each in self.answers[: furthest + 1]),
            allowed=frozenset(allowed),
            configurations=self.looked_at,
        )

    def _when(self, index: int) -> float:
        answered = self.trace[index].answered
        assert answered is not None, "an answer without its time"
        return answered

    def _explaining(self, position: int, before: Configuration) -> Iterator[Configuration]:
        """Each configuration in which the answer at ``position`` was given; the nearest first."""
        index, now, seen = self.answers[position], self._when(self.answers[position]), self.seen[position]
        queue = NearestFirst()
        if seen.add(start := self._with_sent(before, position)):
            yield from self._new(start, index)
            self._put(queue, start, index)
        while queue and self.looked_at <= self._most:
            for after in self._steps(queue.take(), now):
                if seen.add(after):
                    yield from self._new(after, index)
                    self._put(queue, after, index)

    def _put(self, queue: NearestFirst, one: Configuration, index: int) -> None:
        """Unless it is past the epoch of a request that waits: nothing leads to its answer then."""
        missing = {each: told.missing(one) for each in one.waiting if (told := self.told_epochs[each]) is not None}
        if None not in missing.values():
            queue.put(one, missing.get(index) or 0)

    def _new(self, one: Configuration, index: int) -> Iterator[Configuration]:
        """It, or those that the request makes of it at once, where the answer was given."""
        self.looked_at += 1
        for after in (one, *self._effects(one, index)):
            if self._is_done(after, index):
                yield after

    def _is_done(self, one: Configuration, index: int) -> bool:
        return index not in one.waiting and all(each.index != index for each in one.under_way)

    def _with_sent(self, before: Configuration, position: int) -> Configuration:
        """With the requests that were sent since the answer before, up to this one."""
        sent, gone = self.sent[position], self.stood_for[position]
        if not sent and not gone:
            return before
        waiting = {index: copies for index, copies in self._alive(before) if index not in gone}
        for index in sent.keys() - gone:
            waiting[index] = waiting.get(index, 0) + sent[index]
        return replace(before, waiting=FrozenMap(waiting))

    def _alive(self, one: Configuration) -> Iterator[tuple[int, int]]:
        """The requests that wait, but for those without an answer that can do nothing any more."""
        for index, copies in one.waiting.items():
            traced = self.trace[index]
            if traced.answer is not None or not is_dead(one.asked(traced.request), one.cluster, self.profile):
                yield index, copies

    def _steps(self, one: Configuration, now: float) -> Iterator[Configuration]:
        """Everything that may happen next, with or without a request."""
        settled = step.settled(one.cluster, self.profile)
        if settled is not one.cluster:
            yield self._changed(one, settled)
        for _, cluster in step.marker_steps(one.cluster, self.profile):
            yield self._changed(one, cluster)
        yield from self._under_way(one)
        for index in one.waiting:
            yield from self._effects(one, index)
        if one.opened is not None and now - one.opened >= self.timeout_ms:
            for name in one.cluster.ids:
                if (aborted := step.timed_out(one.cluster, name, self.profile)) is not None:
                    yield self._changed(one, aborted)
        yield from self._forgotten(one)
        yield from self._moves(one)

    def _forgotten(self, one: Configuration) -> Iterator[Configuration]:
        """An id expires in the states of ``TransactionState.isExpirationAllowed``."""
        for name, known in one.cluster.ids.items() if self.expires else ():
            if known.state is CoordinatorState.EMPTY or known.state.complete:
                yield self._changed(one, replace(one.cluster, ids=one.cluster.ids.without(name)))

    def _moves(self, one: Configuration) -> Iterator[Configuration]:
        """How often coordinators moved is not counted: markers carry it, and no client sees it."""
        again = step.markers_sent_again(one.cluster) if self.kept else step.coordinator_moved(one.cluster, self.profile)
        yield self._changed(one, replace(again, coordinator_epoch=one.cluster.coordinator_epoch))
        for partition, log in one.cluster.logs.items():
            if log.verifications:
                yield self._changed(one, step.leader_moved(one.cluster, partition))

    def _effects(self, one: Configuration, index: int) -> Iterator[Configuration]:
        """A request takes effect: at once, and a write also in the first of its steps.

        One without an answer that changes nothing now is left as it is: it may also come later.
        """
        if index not in one.waiting:
            return
        asked = one.asked(self.trace[index].request)
        (outcome,) = step.outcomes(one.cluster, asked, self.profile)
        if self.trace[index].answer is not None or outcome.after != one.cluster:
            yield from self._answered(one.taken(index), index, outcome)
        if isinstance(asked, PartitionWrite):
            begun = step.begin_write(one.cluster, asked, self.profile)
            if not isinstance(begun, step.ModelOutcome) and begun[1] != leader_model.UNVERIFIED:
                taken = one.taken(index)
                more = replace(taken, under_way=taken.under_way | {WriteUnderWay(index, begun[1])})
                yield self._changed(more, begun[0])

    def _under_way(self, one: Configuration) -> Iterator[Configuration]:
        """The next step of each write whose leader has asked the coordinator."""
        for write in one.under_way:
            asked = one.asked(self.trace[write.index].request)
            assert isinstance(asked, PartitionWrite)
            without = replace(one, under_way=one.under_way - {write})
            if write.confirmed:
                finished = step.finish_write(one.cluster, asked, write.number, self.profile)
                yield from self._answered(without, write.index, finished)
            else:
                yield from self._coordinator_asked(without, write, asked)

    def _coordinator_asked(
        self, without: Configuration, write: WriteUnderWay, asked: PartitionWrite
    ) -> Iterator[Configuration]:
        cluster = without.cluster
        answer, known = coordinator_model.add_partitions(
            cluster.ids.get(asked.id), leader_model.question(asked), self.profile
        )
        after = cluster if known is None else cluster.with_id(asked.id, known)
        if not answer.accepted:
            yield from self._answered(
                without, write.index, step.ModelOutcome(leader_model.translated(asked, answer), after)
            )
            return
        confirmed = replace(without, under_way=without.under_way | {replace(write, confirmed=True)})
        yield self._changed(confirmed, after, self.trace[write.index].sent)

    def _answered(self, taken: Configuration, index: int, outcome: step.ModelOutcome) -> Iterator[Configuration]:
        """The request has its effect, if its answer is the one that was given."""
        one = self.trace[index]
        if one.answer is None:
            yield self._changed(taken, outcome.after, one.sent)
        elif (ids := same_answer(taken.ids, outcome.answer, one.answer)) is not None:
            yield self._changed(replace(taken, ids=ids), outcome.after, one.sent)

    def _changed(self, one: Configuration, cluster: ModelCluster, sent: float = 0) -> Configuration:
        opened = None
        if any(known.state is CoordinatorState.ONGOING for known in cluster.ids.values()):
            opened = sent if one.opened is None else one.opened
        if self.timeout_ms == 0 and opened is not None:
            opened = float("-inf")
        under_way = one.under_way and self._going_on(one, cluster)
        changed = replace(one, cluster=cluster, opened=opened, under_way=under_way)
        return changed if leaders_know_the_same(one.cluster, cluster) else renumbered(changed)

    def _going_on(self, one: Configuration, cluster: ModelCluster) -> frozenset[WriteUnderWay]:
        """The writes under way, but for those without an answer that will be refused."""
        return frozenset(
            each
            for each in one.under_way
            if self.trace[each.index].answer is not None
            or not will_be_refused(one.asked(self.trace[each.index].request), cluster, confirmed=each.confirmed)
        )

    def _could_answer(self, one: Configuration, index: int) -> Iterator[ModelAnswer]:
        if index in one.waiting:
            asked = one.asked(self.trace[index].request)
            for outcome in step.outcomes(one.cluster, asked, self.profile):
                told = outcome.answer
                yield replace(told, producer_id=one.ids.get(told.producer_id, NONE))
