"""When which toxic strikes: fault windows with quiet periods between them, drawn from one seed before anything starts.

A fault window has one toxic or two that need different powers, at most one of which disrupts a broker. Between two
windows is quiet, so that the workload gets on; between two that disrupt a broker there is time for it to catch up. A
toxic with a minimum duration gets a window of that length. The first strike of a toxic concerns every transactional id:
a short round may have no other, and one id alone may not be at work just then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from harness.chaos.plan.scenario import PlannedFault, Scenario
from harness.faults.toxic import AimedToxic, ClusterShape, MinimumDuration, Toxic, out_of_reach

FIRST_QUIET_SECONDS = 1.0
"""Before the first fault window."""
LAST_QUIET_SECONDS = 2.0
"""Between the last fault window and the end."""
WINDOW_SECONDS = (2.0, 5.0)
"""Shortest and longest fault window."""
QUIET_SECONDS = (1.0, 3.0)
"""Shortest and longest quiet period between two."""
RECOVERY_SECONDS = 3.0
"""Between two faults that disrupt a broker."""
SECOND_TOXIC_SHARE = 0.5
"""Share of fault windows with two toxics, where a second one fits."""
LATEST_SECOND_SHARE = 0.4
"""Share of a fault window after which its second toxic does not begin any more."""


def schedule(scenario: Scenario, shape: ClusterShape, draw: Random, seconds: float) -> tuple[PlannedFault, ...]:
    """The faults of a round of ``seconds``, in the order of their beginning; none that is out of reach.

    Every toxic strikes once before one strikes again; how many strikes there is time for is fixed by ``seconds``. Pure:
    the same draws give the same faults.
    """
    toxics = within_reach(scenario.toxics, shape)
    if not toxics:
        return ()
    planner = _Planner(toxics=toxics, shape=shape, draw=draw, end=seconds - LAST_QUIET_SECONDS)
    while planner.add_window():
        pass
    return _ordered(planner.planned)


def within_reach(toxics: Sequence[Toxic], shape: ClusterShape) -> list[Toxic]:
    """Those that can strike something on a cluster of this shape."""
    return [toxic for toxic in toxics if out_of_reach(toxic, shape) is None]


def _ordered(faults: Sequence[PlannedFault]) -> tuple[PlannedFault, ...]:
    return tuple(sorted(faults, key=lambda fault: fault.at_ms))


@dataclass(slots=True, kw_only=True)
class _Planner:
    """The plan as it grows; its times are seconds.

    :param end: When the last fault window must be over.
    :param now: Where the next fault window may begin; ``next_disruption``: where a broker may be disrupted again.
    :param queue: Toxics that come next; all are taken before it is shuffled again.
    :param not_yet: Toxics that have not struck yet.
    """

    toxics: Sequence[Toxic]
    shape: ClusterShape
    draw: Random
    end: float
    now: float = FIRST_QUIET_SECONDS
    next_disruption: float = 0.0
    queue: list[Toxic] = field(default_factory=list)
    not_yet: list[Toxic] = field(init=False)
    planned: list[PlannedFault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.not_yet = list(self.toxics)

    def add_window(self) -> bool:
        """Plan one more fault window; False when there is no time for it."""
        first = self._next_toxic()
        start = max(self.now, self.next_disruption) if first.disrupts_broker else self.now
        share = self._share(start)
        length = self._length(first, start, share)
        if length < WINDOW_SECONDS[0]:
            return False
        scarce = share < WINDOW_SECONDS[0] + QUIET_SECONDS[1]
        second = self._second_toxic(first, start) if self.draw.random() < SECOND_TOXIC_SHARE or scarce else None
        self._plan(first, start, length)
        if second is not None:
            late = self.draw.uniform(0, LATEST_SECOND_SHARE) * length
            self._plan(second, start + late, length - late)
        self.now = start + length + min(self.draw.uniform(*QUIET_SECONDS), max(QUIET_SECONDS[0], share - length))
        return True

    def _share(self, start: float) -> float:
        """What is left, shared among the toxics that have not struck yet, so that all strike if that can be."""
        fixed = [toxic.seconds + QUIET_SECONDS[1] for toxic in self.not_yet if isinstance(toxic, MinimumDuration)]
        sharers = max(1, len(self.not_yet) - len(fixed))
        return (self.end - start - sum(fixed) + QUIET_SECONDS[0]) / sharers

    def _length(self, toxic: Toxic, start: float, share: float) -> float:
        left = self.end - start
        if isinstance(toxic, MinimumDuration):
            return min(toxic.seconds, left)
        drawn = min(self.draw.uniform(*WINDOW_SECONDS), share - QUIET_SECONDS[1])
        return min(max(WINDOW_SECONDS[0], drawn), left)

    def _next_toxic(self) -> Toxic:
        if not self.queue:
            self.queue = self.draw.sample(self.toxics, len(self.toxics))
        return self.queue[0]

    def _second_toxic(self, first: Toxic, start: float) -> Toxic | None:
        return next((toxic for toxic in self.queue[1:] if self._fits(toxic, first, start)), None)

    def _fits(self, toxic: Toxic, first: Toxic, start: float) -> bool:
        if isinstance(toxic, MinimumDuration) or toxic.power == first.power:
            return False
        return not toxic.disrupts_broker or (not first.disrupts_broker and start >= self.next_disruption)

    def _plan(self, toxic: Toxic, at: float, duration: float) -> None:
        self.queue.remove(toxic)
        if toxic.disrupts_broker:
            self.next_disruption = at + duration + RECOVERY_SECONDS
        chosen = toxic.draw(self.shape, self.draw)
        if toxic in self.not_yet:
            self.not_yet.remove(toxic)
            chosen = toxic.aimed_at_all(chosen) if isinstance(toxic, AimedToxic) else chosen
        self.planned.append(
            PlannedFault(toxic=toxic, at_ms=round(1000 * at), duration_ms=round(1000 * duration), chosen=chosen)
        )
