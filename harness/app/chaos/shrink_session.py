"""The rounds of a search on one cluster: each plan is played as a round of a session is, in a folder of its own."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from harness.app.chaos.chaos_session import ChaosSession, Crashed
from harness.app.chaos.red_round import RedRound
from harness.app.chaos.shrink_words import smaller_words
from harness.base.interrupts import is_interrupt
from harness.chaos.plan.chaos_options import OVERHEAD_SECONDS
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.plan_file import write_plan
from harness.chaos.plan.round_plan import RoundPlan
from harness.chaos.play.casting import ClientsNotOffered, ScenarioOutOfReach
from harness.chaos.shrink.plan_search import PlayedPlan
from harness.evidence.history.judgement import Judgement
from harness.evidence.run_folder import RunFolder
from harness.report.chaos.round_results import RoundResults, read_round

SMALLEST = "smallest.toml"
SEARCHING = 0.85
"""Share of the budget for the search; the rest is for playing what is left again."""


@dataclass(slots=True, kw_only=True)
class ShrinkSession:
    """What lasts for a search.

    :param overhead: Seconds that the longest round so far took beside its storms.
    :param shown: The last round that was red.
    """

    red: RedRound
    session: ChaosSession
    budget_seconds: float
    started: float = field(default_factory=time.monotonic)
    overhead: float = 0.0
    numbers: int = 0
    searching: bool = True
    shown: RoundResults | None = None

    @property
    def place(self) -> Path:
        """Where the smallest plan so far is."""
        return self.session.options.run.folder / SMALLEST

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.started

    def has_time(self, plan: RoundPlan) -> bool:
        """Whether the budget reaches for a round; it always does for the first."""
        share = SEARCHING if self.searching else 1.0
        takes = plan.seconds + max(self.overhead, OVERHEAD_SECONDS)
        return not self.numbers or self.seconds + takes < share * self.budget_seconds

    def keep(self, plan: RoundPlan) -> None:
        """Write the smallest so far."""
        write_plan(self.place, plan)

    def play(self, plan: RoundPlan) -> PlayedPlan:
        """One round of a plan; one that is not offered, or in which Fencepost fails, shows nothing."""
        began, round_ = time.monotonic(), self._next_round(plan)
        judgement, remark = self._examined(round_)
        self.overhead = max(self.overhead, time.monotonic() - began - plan.seconds) if self.numbers > 1 else 0.0
        red = judgement is not None and self.red.anomaly in judgement.anomalies
        told = remark or (f"red, {self.red.anomaly}" if red else f"not red: {_conclusion(judgement)}")
        self.session.options.run.progress(f"try {self.numbers}: {smaller_words(self.red.plan, plan)}: {told}")
        if red:
            self.shown = read_round(round_.folder)
        return PlayedPlan(red=red, transactions=_transactions(round_) if red else {})

    def _next_round(self, plan: RoundPlan) -> Round:
        self.numbers += 1
        return self.session.planned_round(self.numbers, plan)

    def _examined(self, round_: Round) -> tuple[Judgement | None, str]:
        try:
            return self.session.examine(round_), ""
        except (ClientsNotOffered, ScenarioOutOfReach) as lack:
            return None, f"not offered: {lack}"
        except Crashed as crashed:
            if is_interrupt(crashed):
                raise KeyboardInterrupt from crashed
            return None, str(crashed)


def _conclusion(judgement: Judgement | None) -> str:
    if judgement is None:
        return "not judged"
    return ", ".join(judgement.anomalies) or judgement.status.value


def _transactions(round_: Round) -> dict[str, int]:
    kept = RunFolder(round_.folder).run().get("transactions")
    return {name: number for name, number in kept.items() if isinstance(number, int)} if isinstance(kept, dict) else {}
