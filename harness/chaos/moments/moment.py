"""Moments that a fault can wait for: a request is seen by the gate, and is held there until the fault is on.

A fault at a moment strikes while that request is under way for certain, or done and not answered yet. What each moment
aims at stands beside it, in the words of :mod:`harness.evidence.situations.situation`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from harness.evidence.situations import situation as words
from harness.faults.fault_target import FaultTarget
from harness.faults.frame_rule import Rule, Step, Then, When
from harness.faults.frame_toxic import links_of, proxies_of
from harness.faults.toxic import ToxicReach

Place: TypeAlias = Literal["lanes", "links"]
COMPLETE = ("CompleteCommit", "CompleteAbort")
PREPARED = ("PrepareCommit", "PrepareAbort")
HELD_MS = 10_000
"""That a request is held at most; a toxic that takes longer to come on strikes after it."""
GONE_ON_SECONDS = 0.4
"""For which markers are held before, so that clients have come to their next transactions; less than the stretch of
time before a fault in which its traffic is counted (``harness.judge.checks.traffic``)."""
BEFORE: Mapping[str, Step] = {
    words.UNKNOWN: "nothing",
    "Empty": "init",
    "PrepareCommit": "commit",
    "CompleteCommit": "commit",
    "PrepareAbort": "abort",
    "CompleteAbort": "abort",
}
"""What became last of a transactional id that is in a state, where no transaction of it is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One API, on the lanes of clients or on the links between brokers.

    :param says: When it is, in words.
    :param aims: Pairs of state and request that it may show.
    :param answer: The broker's answer is held in the place of the request, which has had its effect by then.
    :param markers_held: Seconds for which all markers of all coordinators have been held before, and are until the
        fault is on: transactions that are ended meanwhile stay prepared. None where they are left alone.
    """

    name: str
    api: str
    on: Place
    says: str
    aims: tuple[tuple[str, str], ...]
    answer: bool = False
    markers_held: float | None = None

    @property
    def ends(self) -> bool:
        """Whether it is made of a request that says how a transaction ends."""
        return self.api in (words.END, words.MARKERS)

    @property
    def reach(self) -> frozenset[ToxicReach]:
        """Where requests must be seen."""
        return frozenset(map(ToxicReach, self._places))

    @property
    def states(self) -> tuple[str, ...]:
        """In which it may find a transactional id."""
        return tuple(dict.fromkeys(state for state, _ in self.aims))

    def proxies(self, fault_target: FaultTarget) -> tuple[str, ...]:
        """Those that are led through the gate; :raises Powerless: where there are none."""
        return tuple(name for place in self._places for name in proxies_of(place, fault_target))

    def rule(self, fault_target: FaultTarget, state: str = "") -> Rule:
        """The gate holds the next such request, or its answer.

        :param state: Let those go on that nobody sends in this state, as far as the gate can tell: a leader only asks
            about a write where its client has added the partition, so that the transaction is open (KIP-890).
        """
        then = Then(action="hold-response" if self.answer else "hold", at_most_ms=HELD_MS)
        proxies = proxies_of(self.on, fault_target)
        return Rule(name=f"moment-{self.name}", proxies=proxies, when=self._when(state), then=then)

    def _when(self, state: str) -> When:
        any_state = When(apis=(self.api,), transactional=None if self.api == words.MARKERS else True, at_most=1)
        if not state:
            return any_state
        if self.ends:
            return any_state if state == "Ongoing" else replace(any_state, commits=state.endswith("Commit"))
        if state == "Ongoing":
            return replace(any_state, after="write") if self.api == words.INIT else any_state
        before = replace(any_state, after=BEFORE[state])
        if self.api == words.INIT:
            return before
        # What it writes elsewhere at the same time would open its transaction while this one is held.
        adds = True if self.api == words.ADD else None
        return replace(before, adds=adds, at_most=None, one_id=True)

    def markers_rule(self, fault_target: FaultTarget) -> Rule:
        """The gate holds every marker."""
        then = Then(action="hold", at_most_ms=HELD_MS)
        name, when = f"markers-before-{self.name}", When(apis=(words.MARKERS,))
        return Rule(name=name, proxies=links_of(fault_target), when=when, then=then)

    @property
    def _places(self) -> tuple[Place, ...]:
        """Where the gate must stand; what became of an id before a leader asks about it is seen on clients' lanes."""
        alone = self.api == words.MARKERS or (self.on == "lanes" and self.markers_held is None)
        return (self.on,) if alone else ("lanes", "links")


MOMENTS: Mapping[str, Moment] = {
    moment.name: moment
    for moment in (
        Moment(
            name="init-in-flight",
            api=words.INIT,
            on="lanes",
            says="a client asks for its producer id",
            aims=tuple((state, words.INIT) for state in (words.UNKNOWN, "Empty", "Ongoing", *COMPLETE)),
        ),
        Moment(
            name="produce-in-flight",
            api=words.PRODUCE,
            on="lanes",
            says="a client's Produce is under way",
            aims=(("Ongoing", words.PRODUCE), *((state, words.ADD) for state in ("Empty", "Ongoing", *COMPLETE))),
        ),
        Moment(
            name="offsets-in-flight",
            api=words.COMMIT_OFFSETS,
            on="lanes",
            says="a client's TxnOffsetCommit is under way",
            aims=(("Ongoing", words.COMMIT_OFFSETS), ("Ongoing", words.ADD_OFFSETS)),
        ),
        Moment(
            name="group-in-flight",
            api=words.ADD_OFFSETS,
            on="lanes",
            says="a client of the old protocol adds a group to its transaction",
            aims=(("Ongoing", words.ADD_OFFSETS),),
        ),
        Moment(
            name="end-in-flight",
            api=words.END,
            on="lanes",
            says="a client's EndTxn is under way",
            aims=(("Ongoing", words.END),),
        ),
        Moment(
            name="end-answered",
            api=words.END,
            on="lanes",
            says="the coordinator has ended a transaction, and its answer is under way",
            aims=tuple((state, words.END) for state in COMPLETE),
            answer=True,
        ),
        Moment(
            name="end-answered-before-markers",
            api=words.END,
            on="lanes",
            says="the coordinator has prepared a transaction's end, and its answer is under way, as are the markers",
            aims=tuple((state, words.END) for state in PREPARED),
            answer=True,
            markers_held=0,
        ),
        Moment(
            name="init-before-markers",
            api=words.INIT,
            on="lanes",
            says="markers are late, and a client asks for its producer id",
            aims=tuple((state, words.INIT) for state in PREPARED),
            markers_held=GONE_ON_SECONDS,
        ),
        Moment(
            name="produce-before-markers",
            api=words.PRODUCE,
            on="lanes",
            says="markers are late, and a client writes in its next transaction",
            aims=tuple((state, words.ADD) for state in PREPARED),
            markers_held=GONE_ON_SECONDS,
        ),
        Moment(
            name="verification-pending",
            api=words.ADD,
            on="links",
            says="a leader asks the coordinator about a write",
            aims=tuple((state, words.VERIFICATION) for state in ("Empty", "Ongoing", *COMPLETE)),
        ),
        Moment(
            name="verification-before-markers",
            api=words.ADD,
            on="links",
            says="markers are late, and a leader asks about a write in the next transaction",
            aims=tuple((state, words.VERIFICATION) for state in PREPARED),
            markers_held=GONE_ON_SECONDS,
        ),
        Moment(
            name="marker-in-flight",
            api=words.MARKERS,
            on="links",
            says="the prepare record is written, and markers are under way",
            aims=tuple((state, words.MARKERS) for state in PREPARED),
        ),
    )
}
"""By name."""
