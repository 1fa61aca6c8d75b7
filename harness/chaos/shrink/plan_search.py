"""The search for the smallest plan: rounds from the same draws with something left out, one after the other.

A plan is red when its round shows the anomaly that is looked for. One that is red is the smallest so far, since only
smaller ones are tried. Where the whole round was not red at its first play, each plan is tried several times.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from typing import NamedTuple

from harness.chaos.plan.plan_file import plan_text
from harness.chaos.plan.round_plan import RoundPlan
from harness.chaos.shrink.delta_debugging import smallest_number, smallest_part
from harness.chaos.shrink.smaller_plans import (
    at_once,
    brought_forward,
    one_transaction_each,
    shortened,
    switched_off,
    with_roles,
    with_transactions,
)

STEP_MS = 500
"""By which a fault's length is told apart from another."""
PLAYS_AT_THE_END = 5
"""Of the smallest plan, to tell how often it is red."""
SURE = 0.8
"""Share of its plays in which the result should be red, unless the whole round was red less often."""


class BudgetOver(Exception):
    """There is no time for another round."""


class PlayedPlan(NamedTuple):
    """A round of a plan: whether it showed the anomaly, and how many transactions each role began."""

    red: bool
    transactions: Mapping[str, int]


@dataclass(slots=True, kw_only=True)
class PlanSearch:
    """A search.

    :param play: Plays a plan once.
    :param has_time: Whether there is time to play a plan.
    :param keep: Called with each plan that is the smallest so far.
    :param most_tries: How often a plan is tried where red rounds are not red each time.
    :param patience: How often a plan is tried before it counts as green.
    :param tallies: Of each plan, by its text, the plays.
    :param red: The plans that were red, each smaller than the one before.
    :param begun: How many transactions each role began in the last red round.
    """

    smallest: RoundPlan
    play: Callable[[RoundPlan], PlayedPlan]
    has_time: Callable[[RoundPlan], bool]
    keep: Callable[[RoundPlan], None]
    most_tries: int = 3
    patience: int = 1
    tallies: dict[str, list[bool]] = field(default_factory=dict)
    red: list[RoundPlan] = field(default_factory=list)
    begun: Mapping[str, int] = field(default_factory=dict)

    def share(self, plan: RoundPlan) -> tuple[int, int]:
        """How many plays of a plan were red, and how many there were."""
        tally = self.tallies.get(plan_text(plan), [])
        return sum(tally), len(tally)

    @property
    def plays(self) -> int:
        """Rounds so far."""
        return sum(map(len, self.tallies.values()))

    def confirm(self) -> bool:
        """Play the whole plan until it is red; False where it is not in as many tries as there may be."""
        self.patience = self.most_tries
        red = self.shows(self.smallest)
        self.patience = 1 if self.share(self.smallest) == (1, 1) else self.most_tries
        return red

    def search(self, guesses: Iterable[RoundPlan]) -> None:
        """Make it as small as may be; :raises BudgetOver: when the time is over."""
        any(self.shows(guess) for guess in guesses)
        self.shows_if_other(replace(self.smallest, crowd=0))
        self.fewer_faults()
        self.fewer_roles()
        self.shows_if_other(brought_forward(self.smallest))
        self.fewer_transactions()
        self.simpler_choices()
        self.shorter()

    def measure(self) -> None:
        """Play the smallest plan some more times; one that is red too seldom gives way to the one before it.

        :raises BudgetOver: When the time is over; then the one that was red most often is the result.
        """
        reds, plays = self.share(self.red[0])
        wanted = min(SURE, reds / plays)
        try:
            for plan in reversed(self.red):
                if self._is_red_in(plan, wanted):
                    break
        finally:
            self._settle_on(max(reversed(self.red), key=self._how_sure))

    def fewer_faults(self) -> None:
        whole = self.smallest
        if whole.faults and not self.shows(replace(whole, faults=())):
            smallest_part(whole.faults, lambda faults: self.shows(replace(whole, faults=tuple(faults))))

    def fewer_roles(self) -> None:
        whole = self.smallest
        smallest_part([role.name for role in whole.roles], lambda names: self.shows(with_roles(whole, names)))

    def fewer_transactions(self) -> None:
        """One each, once the fault is on, or as few as show it."""
        whole = self.smallest
        if all(role.transactions == 1 for role in whole.roles) or self.shows(one_transaction_each(whole)):
            return
        most = max((self.begun.get(role.name, 0) for role in whole.roles), default=0)
        smallest_number(1, most, lambda number: self.shows(with_transactions(whole, number)))

    def simpler_choices(self) -> None:
        """No fault waits for a moment, and whatever its draws have switched on is off."""
        for nth, fault in enumerate(self.smallest.faults):
            if fault.moment:
                self.shows(at_once(self.smallest, nth))
            for name in [name for name, value in fault.chosen.items() if value is True]:
                self.shows(switched_off(self.smallest, nth, name))

    def shorter(self) -> None:
        """Shorter faults; where there are none, fewer seconds."""
        whole = self.smallest
        if not whole.faults:
            smallest_number(1, ceil(whole.seconds), lambda number: self.shows(replace(whole, seconds=float(number))))
            return
        steps = ceil(max(fault.duration_ms for fault in whole.faults) / STEP_MS)
        smallest_number(1, steps, lambda number: self.shows(shortened(whole, number * STEP_MS)))

    def shows_if_other(self, plan: RoundPlan) -> bool:
        """Whether a plan is red; the smallest is known to be."""
        return plan == self.smallest or self.shows(plan)

    def shows(self, plan: RoundPlan) -> bool:
        """Whether a plan is red; then it is the smallest so far. What was played is not played again."""
        red, plays = self.share(plan)
        while not red and plays < self.patience:
            red, plays = int(self._play(plan)), plays + 1
        if red:
            self.red.append(plan)
            self._settle_on(plan)
        return bool(red)

    def _settle_on(self, plan: RoundPlan) -> None:
        self.smallest = plan
        self.keep(plan)

    def _how_sure(self, plan: RoundPlan) -> float:
        reds, plays = self.share(plan)
        return reds / plays

    def _is_red_in(self, plan: RoundPlan, wanted: float) -> bool:
        """Whether that share of its plays is red; played until that is known, or can no more be."""
        reds, plays = self.share(plan)
        while plays < PLAYS_AT_THE_END and reds + PLAYS_AT_THE_END - plays >= wanted * PLAYS_AT_THE_END:
            reds, plays = reds + self._play(plan), plays + 1
        return reds >= wanted * PLAYS_AT_THE_END

    def _play(self, plan: RoundPlan) -> bool:
        if not self.has_time(plan):
            raise BudgetOver
        played = self.play(plan)
        self.tallies.setdefault(plan_text(plan), []).append(played.red)
        if played.red:
            self.begun = played.transactions
        return played.red
