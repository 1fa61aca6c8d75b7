"""Which rounds a session with a budget plays: those that may meet what no round before has met.

Every second pass plays only the scenarios with the most situations left a second, and so does the first of a session
that goes on from earlier ones; each round but the first gets the best of several seeds
(:mod:`harness.chaos.moments.steering`). Both follow from the session's seed and what was visited.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.chaos.moments.steering import steered
from harness.chaos.moments.struck_requests import requests_by_fault
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.round_plan import drawn_faults
from harness.chaos.plan.scenario import Scenario
from harness.chaos.plan.schedule import within_reach
from harness.chaos.play.casting import shape_on
from harness.chaos.play.environment import Environment
from harness.evidence.situations.kept_situations import read_situations
from harness.evidence.situations.situation import Situation, wanted
from harness.faults.toxic import ToxicReach

EVERY = 2
"""Each how-manieth pass plays half of the scenarios."""


@dataclass(slots=True, kw_only=True)
class SteeredRounds:
    """A session's choice.

    :param visited: What its rounds have shown so far.
    :param brokers: Of the cluster, with ``reach``; None before there was one.
    """

    options: ChaosOptions
    visited: set[Situation] = field(default_factory=set)
    brokers: tuple[int, ...] | None = None
    reach: frozenset[ToxicReach] = frozenset()

    @property
    def on(self) -> bool:
        """Without a budget each scenario is played once, with the seed that was given: so a round is run again."""
        options = self.options
        return options.budget_seconds is not None and options.plan is None and not options.unsteered

    def note(self, folder: Path, environment: Environment) -> None:
        """A round is over: what it visited, and what toxics may act on here."""
        if environment.running is not None:
            self.brokers, self.reach = environment.running.topology.brokers, environment.reach
        found = read_situations(folder)
        self.visited |= {each.situation for each in found.visits} if found else set()

    def has_more(self, round_: Round, number: int) -> bool:
        """Whether the round is to be played, the ``number``-th of the session, from 1."""
        scenarios = self.options.scenarios
        turn = (number - 1) // max(1, len(scenarios)) + (1 if self.options.after is None else 2)
        if not self.on or self.brokers is None or turn % EVERY:
            return True
        return round_.scenario.name in self._first_half(scenarios)

    def chosen(self, round_: Round) -> Round:
        """The same with the seed that is worth most."""
        if not self.on or self.brokers is None:
            return round_
        shape = shape_on(round_.scenario, self.brokers, self.reach)
        seed, _ = steered(
            round_.seed,
            lambda seed: drawn_faults(round_.scenario, seed, round_.seconds, shape),
            self.visited,
            groups=round_.scenario.has_groups,
        )
        return replace(round_, seed=seed, command=self.options.command(round_.scenario, seed, round_.seconds))

    def _first_half(self, scenarios: Sequence[Scenario]) -> frozenset[str]:
        left = {scenario.name: self._left(scenario) for scenario in scenarios}
        ranked = sorted(left, key=lambda name: -left[name])
        return frozenset(ranked[: (len(ranked) + 1) // 2])

    def _left(self, scenario: Scenario) -> float:
        assert self.brokers is not None, "a round was played"
        shape = shape_on(scenario, self.brokers, self.reach)
        faults = requests_by_fault(within_reach(scenario.toxics, shape))
        return len(wanted(faults, groups=scenario.has_groups) - self.visited) / scenario.seconds
