"""Which rounds a session with a budget plays: those that may meet what no round before has met.

A pass over all scenarios is followed by as many rounds as :data:`BEST_PASSES` passes have, each of the scenario that
may meet most a second, as long as there is one; a session that goes on from earlier ones begins with these. Each round
but the first gets the best of several seeds (:mod:`harness.chaos.moments.steering`). Both follow from the session's
seed and what was visited.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from harness.base.seed import Seed
from harness.chaos.moments.steering import aims, steered
from harness.chaos.moments.struck_requests import requests_by_fault
from harness.chaos.plan.chaos_options import OVERHEAD_SECONDS, ChaosOptions
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.round_plan import drawn_faults
from harness.chaos.plan.scenario import PlannedFault, Scenario
from harness.chaos.play.casting import offers_v2, shape_for
from harness.chaos.play.environment import Environment
from harness.evidence.situations.kept_situations import read_situations
from harness.evidence.situations.situation import Situation, leader_adds, wanted
from harness.faults.toxic import ClusterShape

FaultsOf: TypeAlias = Callable[[Seed], Sequence[PlannedFault]]
"""What a seed draws for a round."""
BEST_PASSES = 2
"""More of them would leave out scenarios in which all is visited, and whatever else these would find."""
LEAST_WORTH = 0.25
"""What a round must be worth to be played alone: a situation that was aimed at three times. Where all is visited, or
was tried in vain, all scenarios are played in turn."""


@dataclass(slots=True, kw_only=True)
class SteeredRounds:
    """A session's choice.

    :param visited: What its rounds have shown so far.
    :param aimed_at: How often its rounds have aimed at each situation.
    :param beyond: Scenarios that cannot be played here.
    :param shapes: By scenario what its rounds may depend on; empty before there was a cluster.
    :param never: Situations that no round can visit here.
    """

    options: ChaosOptions
    visited: set[Situation] = field(default_factory=set)
    aimed_at: Counter[Situation] = field(default_factory=Counter)
    beyond: set[str] = field(default_factory=set)
    shapes: Mapping[str, ClusterShape] = field(default_factory=dict)
    never: Set[Situation] = frozenset()
    _best: tuple[int, str] = (-1, "")
    _aims: Set[Situation] = frozenset()

    @property
    def on(self) -> bool:
        """Without a budget each scenario is played once, with the seed that was given: so a round is run again."""
        options = self.options
        return options.budget_seconds is not None and options.plan is None and not options.unsteered

    def note(self, folder: Path, environment: Environment) -> None:
        """A round is over: what it visited, and after the first one what toxics may act on in each scenario."""
        if environment.running is not None and not self.shapes:
            self.shapes = {each.name: shape_for(each, environment) for each in self.options.scenarios}
            self.never = frozenset() if offers_v2(environment) else self._leaders_additions()
        found = read_situations(folder)
        self.visited |= {each.situation for each in found.visits} if found else set()
        self.aimed_at.update(self._aims)

    def turns(self, passes: int) -> int:
        """How often all scenarios are offered for so many passes: of most turns a single round is played."""
        return passes * max(1, len(self.options.scenarios)) if self.on else passes

    def has_more(self, round_: Round, number: int) -> bool:
        """Whether the round is to be played, the ``number``-th that is offered, from 1."""
        in_turn = max(1, len(self.options.scenarios))
        turn = (number - 1) // in_turn
        best_alone = (turn + (self.options.after is not None)) % (1 + BEST_PASSES * in_turn)
        if not self.on or not self.shapes or not best_alone:
            return True
        if self._best[0] != turn:
            self._best = turn, self._best_of(turn * in_turn)
        return self._best[1] in ("", round_.scenario.name)

    def chosen(self, round_: Round) -> Round:
        """The same with the seed that is worth most."""
        if not self.on or not self.shapes:
            return round_
        faults_of = self._faults_of(round_.scenario, round_.seconds)
        seed, _ = self._steered(round_.scenario, round_.seed, faults_of)
        self._aims = aims(faults_of(seed))
        return replace(round_, seed=seed, command=self.options.command(round_.scenario, seed, round_.seconds))

    def _best_of(self, offered: int) -> str:
        """The scenario whose next round is worth most a second; empty where none is worth being played alone.

        :param offered: Rounds before this turn.
        """
        first = self.options.run.seed.value + offered
        worths = {
            scenario.name: self._worth_a_second(scenario, Seed(value))
            for value, scenario in enumerate(self.options.scenarios, start=first)
            if scenario.name not in self.beyond
        }
        return max((name for name in worths if worths[name]), key=lambda name: worths[name], default="")

    def _worth_a_second(self, scenario: Scenario, seed: Seed) -> float:
        seconds = self.options.length(scenario, len(self.options.scenarios))
        _, worth = self._steered(scenario, seed, self._faults_of(scenario, seconds))
        return worth / (seconds + OVERHEAD_SECONDS) if worth >= LEAST_WORTH else 0.0

    def _steered(self, scenario: Scenario, seed: Seed, faults_of: FaultsOf) -> tuple[Seed, float]:
        visited = self.visited | self.never
        return steered(seed, faults_of, visited, groups=scenario.has_groups, aimed_at=self.aimed_at)

    def _leaders_additions(self) -> frozenset[Situation]:
        toxics = [toxic for scenario in self.options.scenarios for toxic in scenario.toxics]
        return frozenset(filter(leader_adds, wanted(requests_by_fault(toxics), groups=False)))

    def _faults_of(self, scenario: Scenario, seconds: float) -> FaultsOf:
        return lambda seed: drawn_faults(scenario, seed, seconds, self.shapes[scenario.name])
