"""Whether an order of the unsure requests explains what one transactional id was answered: a trace against the model.

Just-in-time linearization (Lowe, "Testing for linearizability", 2017; Porcupine): a request takes effect at one moment
between its sending and its answer, one without an answer at any later moment, or never; nothing is decided about it
before an answer needs it (``step_order``). Where that tells an epoch or a sequence, the search goes straight to it
(``told_epoch``, ``told_write``). Ids are independent, as Porcupine's partitions are, so each is searched by itself.
What may happen between answers is told by ``trace_steps``.

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

from harness.model import protocol_step as step
from harness.model.frozen_map import FrozenMap
from harness.model.model_requests import ModelAnswer, ModelRequest
from harness.model.model_state import NONE
from harness.model.protocol_profile import ProtocolProfile
from harness.model.search.dead_requests import is_dead
from harness.model.traces.configuration import (
    Configuration,
    SeenConfigurations,
    renumbered,
)
from harness.model.traces.step_order import StepOrder
from harness.model.traces.told_epoch import NearestFirst, ToldEpoch, told_epoch
from harness.model.traces.told_write import ToldWrite, told_writes
from harness.model.traces.trace_parts import TracePart, parts_of
from harness.model.traces.trace_steps import TraceSteps
from harness.model.traces.traced_cluster import UsedId, empty_cluster, with_used_id
from harness.model.traces.traced_request import TracedRequest

MOST = 50_000
"""Configurations that are looked at before a search is given up, beside those that each answer needs."""
OF_EACH_PART = 1 / 3
"""So many of them for each part of a trace whose search was given up."""
FOR_EACH = 3
"""Needed by an answer: a transaction's markers and its completion come between two of them."""


class Explained(StrEnum):
    """What a search came to."""

    YES = "explained"
    NO = "not explained"
    GIVEN_UP = "given up"


class TraceVerdict(Struct, frozen=True, kw_only=True):
    """Of one trace under one profile.

    :param prefix: What is not explained: the answered requests up to the first answer that no order leads to, if those
        that were sent by then and are answered later are to come to their answers too.
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

    Where that takes too long the trace may still be seen to have none, from one of its partitions (``trace_parts``),
    each for a third as long.

    :param timeout_ms: Of transactions: none times out sooner after the request that may have begun it was sent. With 0
        it may at any time, which is right where the timeout is not known, and explains more.
    :param expires: Whether the coordinator may forget the id while nothing of it is open.
    :param used: What the id was before; None where nobody had used it.
    :param missing: Partitions that requests name, and that no topic has.
    :param kept: Whether one coordinator had the id all the time; otherwise others may have loaded it at any time.
    """

    def searched(part: TracePart, most: int) -> TraceVerdict:
        steps = TraceSteps(trace=part.requests, profile=profile, timeout_ms=timeout_ms, expires=expires, kept=kept)
        return _Search(steps, part.originals, used, missing, most).run()

    whole = searched(TracePart(trace, trace), most)
    if whole.explained is not Explained.GIVEN_UP:
        return whole
    of_parts = (searched(each, int(most * OF_EACH_PART)) for each in parts_of(trace, profile, missing))
    return next((each for each in of_parts if each.explained is Explained.NO), whole)


@dataclass(slots=True)
class _Search:
    steps: TraceSteps
    originals: Sequence[TracedRequest]
    used: UsedId | None
    missing: frozenset[str]
    most: int
    answers: Sequence[int] = field(init=False)
    told: Sequence[ToldEpoch | ToldWrite | None] = field(init=False)
    seen: list[SeenConfigurations] = field(init=False)
    sent: list[Counter[int]] = field(init=False)
    stood_for: list[set[int]] = field(init=False)
    looked_at: int = 0

    def __post_init__(self) -> None:
        """Answers in their order; those that say nothing are none.

        Requests without an answer that are alike count as copies of the first: which of them comes makes no difference.
        """
        trace = self.steps.trace
        writes = told_writes(trace, self.steps.profile)
        self.told = [told_epoch(one.request, one.answer) or writes.get(index) for index, one in enumerate(trace)]
        answered = [index for index, one in enumerate(trace) if one.answer is not None]
        self.answers = sorted(answered, key=lambda index: self._when(index))
        self.seen = [SeenConfigurations(frozenset(answered)) for _ in self.answers]
        self.sent = [Counter() for _ in self.answers]
        self.stood_for = [set() for _ in self.answers]
        times, first = [self._when(index) for index in self.answers], dict[ModelRequest, int]()
        for index, one in enumerate(trace):
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
        cluster = empty_cluster((one.request for one in self.steps.trace), self.missing)
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
            prefix=tuple(self.originals[each] for each in self.answers[: furthest + 1]),
            allowed=frozenset(allowed),
            configurations=self.looked_at,
        )

    def _when(self, index: int) -> float:
        answered = self.steps.trace[index].answered
        assert answered is not None, "an answer without its time"
        return answered

    def _explaining(self, position: int, before: Configuration) -> Iterator[Configuration]:
        """Each configuration in which the answer at ``position`` was given; the nearest first."""
        index, seen, queue = self.answers[position], self.seen[position], NearestFirst()
        order = StepOrder(self.steps, self.steps.places[index], self._when(index))
        if seen.add(start := self._with_sent(before, position)):
            yield from self._new(start, index, order)
            self._put(queue, start, index)
        while queue and self.looked_at <= self._most:
            for after in order.after(queue.take()):
                if seen.add(after):
                    yield from self._new(after, index, order)
                    self._put(queue, after, index)

    def _put(self, queue: NearestFirst, one: Configuration, index: int) -> None:
        """Unless a request waits to whose answer nothing leads from here."""
        asked = {index, *one.waiting}
        missing = {each: told.missing(one) for each in asked if (told := self.told[each]) is not None}
        if None not in missing.values():
            queue.put(one, missing.get(index) or 0)

    def _new(self, one: Configuration, index: int, order: StepOrder) -> Iterator[Configuration]:
        """It, or those that the request makes of it at once, where the answer was given."""
        self.looked_at += 1
        for after in (one, *order.own_effects(one, index)):
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
            traced = self.steps.trace[index]
            if traced.answer is not None or not is_dead(one.asked(traced.request), one.cluster, self.steps.profile):
                yield index, copies

    def _could_answer(self, one: Configuration, index: int) -> Iterator[ModelAnswer]:
        if index in one.waiting:
            asked = one.asked(self.steps.trace[index].request)
            for outcome in step.outcomes(one.cluster, asked, self.steps.profile):
                told = outcome.answer
                yield replace(told, producer_id=one.ids.get(told.producer_id, NONE))
