"""What ``fencepost chaos`` was asked for, and the rounds that follow from it.

One number fixes a round: round *k* of a session has the seed that the session was given plus *k*, or one that steering
prefers to it. It is run again alone, by its scenario, its seed and its length.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.seed import Seed
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.plan_file import PLAN
from harness.chaos.plan.round_plan import RoundPlan
from harness.chaos.plan.scenario import Scenario
from harness.clients.stdio.adapter_name import AdapterCommand
from harness.cluster.run_options import RunOptions
from harness.evidence.situations.earlier_situations import EarlierSituations

OVERHEAD_SECONDS = 14.0
"""Seconds that a round takes beside its storms: settling, sealing, judging, and its share of the start."""
SHORTEST_SECONDS = 8.0
"""Seconds of fault schedule below which the overhead of a round outweighs it."""
LONGEST_SECONDS = 60.0
"""Of a round that a large budget lengthens: more faults and traffic for its overhead, and it can still be read."""
PASSES_WANTED = 2
"""Over all scenarios, before rounds are longer than the scenarios ask for."""
MOST_PASSES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosOptions:
    """The command line's options.

    :param budget_seconds: Seconds that the session may take; None for one pass over the scenarios.
    :param round_seconds: Length of each round; None for the scenarios' own, shortened where the budget is small and
        lengthened where it is large.
    :param scenarios: Those to play, in this order.
    :param upgrade: The release that nodes are started with; empty where that is the target's own.
    :param clients: Who plays the roles instead of the scenarios' own clients, by exact names.
    :param against: The rounds of the earlier session that this one is compared with.
    :param after: Where earlier sessions are told of from which this one goes on, and what they visited.
    :param plan: What every round plays instead of what a seed draws; it fixes scenario, seed, length and clients.
    :param plan_file: Where the plan was read.
    :param chosen: Whether the scenarios were named one by one.
    :param unsteered: Whether rounds are played in their order and with seeds in a row, whatever was visited.
    :param programs: What starts each client that is a process of its own, by the name that scenarios give it.
    """

    run: RunOptions
    scenarios: Sequence[Scenario] = ()
    upgrade: str = ""
    clients: Sequence[str] = ()
    programs: Mapping[str, AdapterCommand] = field(default_factory=dict)
    against: Sequence[Path] = ()
    after: tuple[Path, EarlierSituations] | None = None
    plan: RoundPlan | None = None
    plan_file: Path | None = None
    budget_seconds: float | None = None
    round_seconds: float | None = None
    spark_master: str = "local[*]"
    chosen: bool = False
    unsteered: bool = False

    def length(self, scenario: Scenario, of: int) -> float:
        """Seconds of storms that a round of ``scenario`` gets, ``of`` scenarios sharing the budget."""
        if self.plan is not None:
            return self.plan.seconds
        if self.round_seconds is not None:
            return self.round_seconds
        if self.budget_seconds is None:
            return scenario.seconds
        share, of_passes = (self.budget_seconds / of / passes - OVERHEAD_SECONDS for passes in (1, PASSES_WANTED))
        longer = max(scenario.seconds, min(of_passes, LONGEST_SECONDS))
        return round(min(longer, max(SHORTEST_SECONDS, share)), 1)

    def passes(self, lengths: Sequence[float]) -> int:
        """How often all scenarios may be gone through at most; the clock decides in the end."""
        if self.budget_seconds is None or not lengths:
            return 1
        return min(MOST_PASSES, 1 + int(self.budget_seconds / sum(lengths)))

    def cluster_seconds(self) -> float:
        """Of storms that one cluster lives through at most: those of all rounds, unless each has one to upgrade."""
        lengths = [self.length(scenario, len(self.scenarios)) for scenario in self.scenarios]
        if self.upgrade:
            return max(lengths, default=0.0)
        return sum(lengths) if self.budget_seconds is None else self.budget_seconds

    def command(self, scenario: Scenario, seed: Seed, seconds: float) -> str:
        own = ("--scenarios", scenario.name, "--seed", str(seed.value), "--seconds", f"{seconds:g}")
        clients = ("--clients", ",".join(self.clients)) if self.clients else ()
        return self.run.command("chaos", *own, *self._upgrade, *clients)

    def command_of_plan(self, folder: Path) -> str:
        """Plays again what a round played that was given a plan."""
        return self.run.command("chaos", "--plan", str(folder / PLAN), *self._upgrade)

    def session_command(self) -> str:
        """The one command that runs all rounds again."""
        own = ["--plan", str(self.plan_file)] if self.plan_file else ["--seed", str(self.run.seed.value)]
        own += [] if self.plan or not self.chosen else ["--scenarios", ",".join(each.name for each in self.scenarios)]
        own += ["--clients", ",".join(self.clients)] if self.clients else []
        own += [] if self.budget_seconds is None else ["--budget", f"{self.budget_seconds:g}s"]
        own += [] if self.round_seconds is None else ["--seconds", f"{self.round_seconds:g}"]
        own += ["--unsteered"] if self.unsteered else []
        own += [] if self.after is None else ["--after", str(self.after[0])]
        return self.run.command("chaos", *own, *self._upgrade)

    @property
    def _upgrade(self) -> Sequence[str]:
        return ("--upgrade", f"{self.upgrade}..") if self.upgrade else ()

    def seeds(self) -> Iterator[Seed]:
        """One a round: a plan's own each time."""
        number = self.run.seed.value
        while True:
            yield Seed(number)
            number += self.plan is None


def parse_seconds(text: str) -> float:
    """A length of time as a person writes it.

    >>> [parse_seconds(text) for text in ("90", "10m", "2h", "1.5m")]
    [90.0, 600.0, 7200.0, 90.0]

    :raises UserError: When it is none, or not above 0.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    length = float(found.group(1)) * {"": 1, "s": 1, "m": 60, "h": 3600}[found.group(2)] if found else 0.0
    if length <= 0:
        raise UserError(f"{text!r} is no length of time; write 90s, 10m or 2h", exit=ExitCode.USAGE)
    return length
