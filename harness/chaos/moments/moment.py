"""Moments that a fault can wait for: a request is seen by the gate, and is held there until the fault is on.

A fault at a moment strikes while that request is under way for certain. What each moment aims at stands beside it, in
the words of :mod:`harness.evidence.situations.situation`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Literal

from harness.base import wait
from harness.base.json_value import Json
from harness.chaos.moments.struck_moments import StruckMoments
from harness.chaos.plan.scenario import PlannedFault
from harness.evidence.situations import situation as words
from harness.faults.fault_target import FaultTarget
from harness.faults.frame_gate import RuleHandle
from harness.faults.frame_rule import Rule, Strike, Then, When
from harness.faults.frame_toxic import add_rule, lanes_of, links_of
from harness.faults.toxic import ToxicReach

COMPLETE = ("CompleteCommit", "CompleteAbort")
LOOK_SECONDS = 0.01
"""Between two looks at the gate's rule."""
LONGEST_WAIT_SECONDS = 4.0
"""That a fault waits for its moment. It is no part of its length, so that a shorter one waits as long."""
HELD_MS = 10_000
"""That the request is held at most; a toxic that takes longer to come on strikes after it."""


class NeverCame(Exception):
    """The moment did not come in time; the text names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One API, on the lanes of clients or on the links between brokers.

    :param says: When it is, in words.
    :param aims: Pairs of state and request that it may show.
    """

    name: str
    api: str
    on: Literal["lanes", "links"]
    says: str
    aims: tuple[tuple[str, str], ...]

    @property
    def reach(self) -> ToxicReach:
        return ToxicReach(self.on)

    def proxies(self, fault_target: FaultTarget) -> tuple[str, ...]:
        """Those that it is seen on; :raises Powerless: where there are none."""
        return lanes_of(fault_target) if self.on == "lanes" else links_of(fault_target)

    def rule(self, fault_target: FaultTarget) -> Rule:
        """The gate holds the next such request."""
        when = When(apis=(self.api,), transactional=None if self.api == words.MARKERS else True, at_most=1)
        then = Then(action="hold", at_most_ms=HELD_MS)
        return Rule(name=f"moment-{self.name}", proxies=self.proxies(fault_target), when=when, then=then)


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
            name="end-in-flight",
            api=words.END,
            on="lanes",
            says="a client's EndTxn is under way",
            aims=(("Ongoing", words.END),),
        ),
        Moment(
            name="verification-pending",
            api=words.ADD,
            on="links",
            says="a leader asks the coordinator about a write",
            aims=tuple((state, words.VERIFICATION) for state in ("Ongoing", *COMPLETE)),
        ),
        Moment(
            name="marker-in-flight",
            api=words.MARKERS,
            on="links",
            says="the prepare record is written, and markers are under way",
            aims=(("PrepareCommit", words.MARKERS), ("PrepareAbort", words.MARKERS)),
        ),
    )
}
"""By name."""


@contextmanager
def at_its_moment(
    planned: PlannedFault, fault_target: FaultTarget, struck_moments: StruckMoments, stop: Event
) -> Iterator[Mapping[str, Json]]:
    """Wait for the fault's moment, if it has one; its request is held for the length of the block. What to strike with.

    :raises NeverCame: When the moment did not come in time.
    :raises Powerless: Where the gate cannot see it.
    """
    if not planned.moment:
        yield planned.chosen
        return
    moment = MOMENTS[planned.moment]
    handle = add_rule(fault_target, moment.rule(fault_target))
    try:
        yield aimed(moment, planned.chosen, _awaited(moment, handle, stop), fault_target)
    finally:
        released = fault_target.clock.now()
        struck_moments.note_held(moment.name, handle.off().strikes, released)


def _awaited(moment: Moment, handle: RuleHandle, stop: Event) -> Strike:
    wait.elapsed_ms_until(
        lambda: stop.is_set() or handle.report().struck > 0,
        timeout_seconds=LONGEST_WAIT_SECONDS,
        interval_seconds=LOOK_SECONDS,
    )
    strikes = handle.report().strikes
    if not strikes:
        raise NeverCame(f"the moment never came: {moment.says} ({moment.name})")
    return strikes[0]


def aimed(moment: Moment, chosen: Mapping[str, Json], strike: Strike, fault_target: FaultTarget) -> Mapping[str, Json]:
    """What a toxic drew, with the broker and the transactional id of the held request in the place of those drawn.

    The broker is the one that is asked; of markers, which their coordinator sends, the one that asks.
    """
    found: dict[str, Json] = {"broker": _broker(moment, strike.proxy, fault_target)}
    if strike.transactional_ids:
        found["transactional_id"] = strike.transactional_ids[0]
    return {**chosen, **{name: value for name, value in found.items() if name in chosen and value is not None}}


def _broker(moment: Moment, proxy: str, fault_target: FaultTarget) -> int | None:
    topology = fault_target.cluster.topology
    asked = {name: broker for (_, broker), name in topology.lane_proxies.items()}
    ends = {name: link for link, name in topology.links.items()}
    if proxy in ends:
        source, target = ends[proxy]
        return source if moment.api == words.MARKERS else target
    return asked.get(proxy)
