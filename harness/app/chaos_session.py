"""A pytest session's chaos: its rounds in order, on one ground, until the budget is used up."""

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.base.seed import Seed
from harness.base.user_error import UserError
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.scenario import Scenario
from harness.chaos.plan.scenario_catalogue import find_scenarios, select_scenarios
from harness.chaos.play.environment import Environment, EnvironmentOptions
from harness.chaos.play.round_context import ClientsNotOffered
from harness.evidence.judgement import Judgement
from harness.report.chaos import publish_session
from harness.run_chaos import perform, publish

SCENARIOS = Path(__file__).resolve().parents[2] / "suites" / "chaos" / "scenarios"


CRASH = "crash.txt"


class Crashed(Exception):
    """Fencepost failed in a round, which says nothing then; the text is one sentence with the place of the trace."""


@dataclass(slots=True, kw_only=True)
class ChaosSession:
    """The rounds of one session.

    :param ended: Each round that came to its end, judged or not.
    """

    wish: ChaosOptions
    progress: Callable[[str], None]
    ended: list[Round] = field(default_factory=list)
    page: Path | None = None
    started: float = field(default_factory=time.monotonic)
    _ground: Environment | None = None

    def rounds(self) -> Sequence[Round]:
        """Every round that the budget may reach, in order."""
        scenarios = select_scenarios(self.wish.scenarios, find_scenarios(SCENARIOS))
        lengths = [self.wish.length(scenario, len(scenarios)) for scenario in scenarios]
        turns = [pair for _ in range(self.wish.passes(lengths)) for pair in zip(scenarios, lengths, strict=True)]
        numbered = zip(turns, self.wish.seeds(), strict=False)
        return [self._round(number, *turn, seed) for number, (turn, seed) in enumerate(numbered, start=1)]

    def reaches(self, round_: Round) -> bool:
        """Whether the budget still reaches for a round; it always does for the first."""
        if self.wish.budget is None or not self.ended:
            return True
        return time.monotonic() - self.started + round_.seconds < self.wish.budget

    def examine(self, round_: Round) -> Judgement:
        """Perform one round.

        :raises Crashed: When that fails by a fault of ours; the next round begins with everything fresh.
        """
        environment = self._ground = self._ground or Environment(wanted=self._wanted())
        try:
            judgement = perform(environment, round_)
        except (ClientsNotOffered, UserError):
            raise
        except Exception as failure:
            environment.start_afresh("the last round crashed")
            raise self._crashed(round_, failure) from failure
        self.ended.append(round_)
        return judgement

    def close(self) -> None:
        """End the ground and write the session's page."""
        environment, self._ground = self._ground, None
        if environment is not None:
            environment.close()
        if self.ended:
            self.page = publish_session(self.wish.folder, self.folders)

    @property
    def folders(self) -> list[Path]:
        """Of the rounds that came to their end."""
        return [round_.folder for round_ in self.ended]

    def _crashed(self, round_: Round, failure: Exception) -> Crashed:
        """Keep the trace beside what was recorded; a round that had begun gets its page, as one that was not judged."""
        trace = round_.folder / CRASH
        trace.parent.mkdir(parents=True, exist_ok=True)
        trace.write_text("".join(traceback.format_exception(failure)), encoding="utf-8")
        if (round_.folder / "run.json").exists():
            self.ended.append(round_)
            publish(round_.folder)
        said = str(failure).strip().partition("\n")[0]
        return Crashed(f"Fencepost failed in this round ({type(failure).__name__}: {said}); the trace is in {trace}")

    def _round(self, number: int, scenario: Scenario, seconds: float, seed: Seed) -> Round:
        return Round(
            target=self.wish.target,
            scenario=scenario,
            seed=seed,
            seconds=seconds,
            folder=self.wish.folder / f"{number:03d}-{scenario.name}",
            again=self.wish.again(scenario, seed, seconds),
        )

    def _wanted(self) -> EnvironmentOptions:
        wish = self.wish
        return EnvironmentOptions(
            target=wish.target,
            folder=wish.folder,
            backend=wish.backend,
            options=wish.options,
            spark_master=wish.spark_master,
            progress=self.progress,
        )


CHAOS = pytest.StashKey[ChaosSession]()
