"""A fault waits for its moment, and strikes while the gate holds what the moment is made of.

One that waits for a state as well has each such request held until the coordinator has told the state of its
transactional id: in another one the request goes on, and the fault waits for the next.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Event

from harness.base import wait
from harness.base.json_value import Json
from harness.chaos.moments.moment import MOMENTS, Moment
from harness.chaos.moments.struck_moments import StruckMoments
from harness.chaos.moments.told_state import told_state
from harness.chaos.plan.scenario import PlannedFault
from harness.evidence.situations import situation as words
from harness.faults.fault_target import FaultTarget
from harness.faults.frame_gate import RuleHandle
from harness.faults.frame_rule import Rule, RuleReport, Strike
from harness.faults.frame_toxic import add_rule

LOOK_SECONDS = 0.01
"""Between two looks at the gate's rule."""


@dataclass(frozen=True, slots=True)
class MomentWait:
    """How long a fault waits for its moment; that is no part of its length, so that a shorter one waits as long.

    :param state_seconds: For a request of an id in its state.
    :param seconds: Then for any, so that it strikes at its moment at least.
    """

    state_seconds: float
    seconds: float


WAIT = MomentWait(8.0, 4.0)
"""A busy machine commits twenty transactions a second, and one in forty may do."""
BEHIND_MARKERS = MomentWait(0.6, 0.8)
"""While all markers are held, which soon stops all clients."""
LOOKS = 20
"""At the state of one id that is prepared where a completed one is wanted: some tenths of a second, within which its
markers mostly are written.
"""


class NeverCame(Exception):
    """The moment did not come in time; the text names it."""


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
    moment, longest = MOMENTS[planned.moment], WAIT
    with ExitStack() as held:
        if moment.markers_held is not None:
            markers = held.enter_context(_held(moment, moment.markers_rule(fault_target), fault_target, struck_moments))
            if _first(moment, markers, longest.seconds, stop) is None:
                raise _never(moment)
            stop.wait(moment.markers_held)
            longest = BEHIND_MARKERS
        seen = Await(moment=moment, state=planned.state, target=fault_target, noted=struck_moments, stop=stop)
        yield aimed(moment, planned.chosen, held.enter_context(seen.held(longest)), fault_target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Await:
    """What a fault waits for.

    :param state: Of the transactional id of the held request; empty for any.
    """

    moment: Moment
    state: str
    target: FaultTarget
    noted: StruckMoments
    stop: Event

    @contextmanager
    def held(self, longest: MomentWait) -> Iterator[Strike]:
        """The request that the fault waited for, held for the length of the block.

        :raises NeverCame: When none came in time.
        """
        any_at = self.target.clock.now() + (1000 * longest.state_seconds if self.state else 0.0)
        over_at = any_at + 1000 * longest.seconds
        while self.target.clock.now() < any_at and not self.stop.is_set():
            rule = self.moment.rule(self.target, self.state)
            with _held(self.moment, rule, self.target, self.noted) as handle:
                strike = self._first(handle, any_at)
                if strike is not None and self._fits(strike):
                    yield strike
                    return
        with _held(self.moment, self.moment.rule(self.target), self.target, self.noted) as handle:
            strike = self._first(handle, over_at)
            if strike is None:
                raise _never(self.moment)
            yield strike

    def _first(self, handle: RuleHandle, until: float) -> Strike | None:
        return _first(self.moment, handle, max(0.0, until - self.target.clock.now()) / 1000, self.stop)

    def _fits(self, strike: Strike) -> bool:
        """Whether the id is in the state; also where no coordinator tells it."""
        if not self.state:
            return True
        asked = _broker(self.moment, strike.proxy, self.target)
        for _ in range(LOOKS):
            told = told_state(strike, self.target, asked)
            if told in (self.state, None):
                return True
            if told != self.state.replace("Complete", "Prepare"):
                return False
            self.stop.wait(LOOK_SECONDS)
        return False


def _never(moment: Moment) -> NeverCame:
    return NeverCame(f"the moment never came: {moment.says} ({moment.name})")


@contextmanager
def _held(moment: Moment, rule: Rule, fault_target: FaultTarget, struck_moments: StruckMoments) -> Iterator[RuleHandle]:
    handle = add_rule(fault_target, rule)
    try:
        yield handle
    finally:
        released = fault_target.clock.now()
        struck_moments.note_held(moment.name, handle.off(await_answers=False).strikes, released)


def _first(moment: Moment, handle: RuleHandle, longest_seconds: float, stop: Event) -> Strike | None:
    """The first request that the rule took and holds; of one that waits for an answer, when the answer is there.

    None where none came in time.
    """
    wait.elapsed_ms_until(
        lambda: stop.is_set() or _came(moment, handle.report()),
        timeout_seconds=longest_seconds,
        interval_seconds=LOOK_SECONDS,
    )
    report = handle.report()
    return report.strikes[0] if _came(moment, report) else None


def _came(moment: Moment, report: RuleReport) -> bool:
    return report.holding > 0 if moment.answer else report.struck > 0


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
