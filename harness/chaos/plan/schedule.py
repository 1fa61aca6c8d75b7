"""When which toxic strikes: storms with quiet between them, drawn from one seed before anything has started.

A storm has one toxic or two that need different powers, at most one of which takes a broker away. Between two storms
is quiet, so that the workload gets on; between two that take a broker away there is time for the broker to catch up.
A lengthy toxic gets a storm of its own length.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from harness.chaos.plan.scenario import PlannedFault, Scenario
from harness.faults.toxic import ClusterShape, MinimumDuration, Toxic

CALM = 1.0
"""Seconds before the first storm."""
STORM = (2.0, 5.0)
QUIET = (1.0, 3.0)
RECOVERY = 3.0
"""Seconds between two faults that take a broker away."""
AFTERMATH = 2.0
"""Seconds between the last storm and the end."""
TWICE = 0.5
"""Share of storms with two toxics, where a second one fits."""
LATEST = 0.4
"""Share of a storm after which its second toxic does not begin any more."""


def schedule(scenario: Scenario, shape: ClusterShape, draw: Random, seconds: float) -> tuple[PlannedFault, ...]:
    """The blows of a run of ``seconds``, in the order of their beginning; ``at`` counts from when the storm is called.

    The scenario's own plan wins. Every toxic strikes once before one strikes again; how many strikes there is time for
    is fixed by ``seconds``. Pure: the same draws give the same blows.
    """
    if scenario.plan:
        return tuple(sorted(scenario.plan, key=lambda planned_fault: planned_fault.at))
    if not scenario.toxics:
        return ()
    weather = _Weather(toxics=scenario.toxics, shape=shape, draw=draw, end=seconds - AFTERMATH)
    while weather.storm():
        pass
    return tuple(sorted(weather.planned_faults, key=lambda planned_fault: planned_fault.at))


@dataclass(slots=True, kw_only=True)
class _Weather:
    """The plan as it grows, in seconds.

    :param end: When the last storm must be over.
    :param now: Where the next storm may begin; ``free``: where a broker may be taken away again.
    :param deck: Toxics that come next; dealt out whole before it is shuffled again.
    :param owed: Toxics that have not struck yet.
    """

    toxics: Sequence[Toxic]
    shape: ClusterShape
    draw: Random
    end: float
    now: float = CALM
    free: float = 0.0
    deck: list[Toxic] = field(default_factory=list)
    owed: list[Toxic] = field(init=False)
    planned_faults: list[PlannedFault] = field(default_factory=list)

    def __post_init__(self) -> None:
        """At first, all are owed a strike."""
        self.owed = list(self.toxics)

    def storm(self) -> bool:
        """Plan one more; False when there is no time for it."""
        first = self._dealt()
        start = max(self.now, self.free) if first.disrupts_broker else self.now
        slot = self._slot(start)
        length = self._length(first, start, slot)
        if length < STORM[0]:
            return False
        scarce = slot < STORM[0] + QUIET[1]
        second = self._companion(first, start) if self.draw.random() < TWICE or scarce else None
        self._strike(first, start, length)
        if second is not None:
            late = self.draw.uniform(0, LATEST) * length
            self._strike(second, start + late, length - late)
        self.now = start + length + min(self.draw.uniform(*QUIET), max(QUIET[0], slot - length))
        return True

    def _slot(self, start: float) -> float:
        """What is left, shared among those that are owed a strike, so that all get one if that can be."""
        lengthy = [toxic.seconds + QUIET[1] for toxic in self.owed if isinstance(toxic, MinimumDuration)]
        sharers = max(1, len(self.owed) - len(lengthy))
        return (self.end - start - sum(lengthy) + QUIET[0]) / sharers

    def _length(self, toxic: Toxic, start: float, slot: float) -> float:
        left = self.end - start
        if isinstance(toxic, MinimumDuration):
            return min(toxic.seconds, left)
        return min(max(STORM[0], min(self.draw.uniform(*STORM), slot - QUIET[1])), left)

    def _dealt(self) -> Toxic:
        if not self.deck:
            self.deck = self.draw.sample(self.toxics, len(self.toxics))
        return self.deck[0]

    def _companion(self, first: Toxic, start: float) -> Toxic | None:
        return next((toxic for toxic in self.deck[1:] if self._fits(toxic, first, start)), None)

    def _fits(self, toxic: Toxic, first: Toxic, start: float) -> bool:
        if isinstance(toxic, MinimumDuration) or toxic.power == first.power:
            return False
        return not toxic.disrupts_broker or (not first.disrupts_broker and start >= self.free)

    def _strike(self, toxic: Toxic, at: float, lasts: float) -> None:
        self.deck.remove(toxic)
        if toxic in self.owed:
            self.owed.remove(toxic)
        if toxic.disrupts_broker:
            self.free = at + lasts + RECOVERY
        chosen = toxic.draw(self.shape, self.draw)
        self.planned_faults.append(
            PlannedFault(toxic=toxic, at=round(1000 * at), lasts=round(1000 * lasts), chosen=chosen)
        )
