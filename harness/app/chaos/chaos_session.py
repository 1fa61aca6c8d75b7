"""A pytest session's chaos: its rounds in order, in one environment, until the budget is used up."""

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

import pytest

from harness.app.chaos.steered_rounds import SteeredRounds
from harness.app.judging_item import NotGreen
from harness.base.seed import Seed
from harness.base.user_error import UserError
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.plan_file import scenario_of
from harness.chaos.plan.round_plan import RoundPlan
from harness.chaos.plan.scenario import Scenario
from harness.chaos.plan.volume_settings import for_volume
from harness.chaos.play.casting import ClientsNotOffered, ScenarioOutOfReach
from harness.chaos.play.environment import Environment
from harness.evidence.history.judgement import Judgement
from harness.evidence.history.kept_session import keep_session
from harness.evidence.situations.earlier_situations import EarlierSituations, keep_earlier, keep_visited
from harness.report.chaos import conclude_session, earlier_session, publish_session
from harness.run_chaos import perform, publish

CRASH = "crash.txt"


class Crashed(NotGreen):
    """Fencepost failed in a round, so it proves nothing; the text is one sentence and where the trace is."""


@dataclass(slots=True, kw_only=True)
class ChaosSession:
    """The rounds of one session.

    :param command: Runs it all again, where that is not fencepost chaos.
    :param ended: Each round that came to its end, judged or not.
    :param out_of_reach: Scenarios of which no toxic can strike on the target.
    :param rounds: All that are offered; which are played is decided on the way (:meth:`reaches`).
    :param rounds_in_all: How many the budget may reach for at most.
    """

    options: ChaosOptions
    command: str = ""
    rounds_printed: int = 0
    ended: list[Round] = field(default_factory=list)
    out_of_reach: set[str] = field(default_factory=set)
    steering: SteeredRounds = field(init=False)
    rounds_in_all: int = field(init=False)
    rounds: Sequence[Round] = field(init=False)
    page: Path | None = None
    started: float = field(default_factory=time.monotonic)
    _environment: Environment | None = None

    def __post_init__(self) -> None:
        """Nothing is visited yet but by the sessions from which this one goes on."""
        visited = self.before.visited if self.before else ()
        self.steering = SteeredRounds(options=self.options, visited=set(visited))
        scenarios = self.options.scenarios
        lengths = [self.options.length(scenario, len(scenarios)) for scenario in scenarios]
        passes = self.options.passes(lengths)
        self.rounds_in_all = passes * len(scenarios)
        offered = list(zip(scenarios, lengths, strict=True)) * self.steering.turns(passes)
        digits, plan = max(3, len(str(len(offered)))), self.options.plan
        self.rounds = [
            self._round(f"{number:0{digits}d}", *one, seed, plan)
            for number, (one, seed) in enumerate(zip(offered, self.options.seeds(), strict=False), start=1)
        ]

    def planned_round(self, number: int, plan: RoundPlan) -> Round:
        """The round that plays a plan, which need not be that of the session."""
        return self._round(f"{number:03d}", scenario_of(plan), plan.seconds, Seed(plan.seed), plan)

    def reaches(self, round_: Round) -> bool:
        """Whether the budget still reaches for a round, and steering has not left it out; the first is always played.

        A scenario that is out of reach is not begun again: it stays so.
        """
        if round_.scenario.name in self.out_of_reach:
            return False
        if self.options.budget_seconds is None or not self.ended:
            return True
        if time.monotonic() - self.started + round_.seconds >= self.options.budget_seconds:
            return False
        return self.steering.has_more(round_, int(round_.folder.name.partition("-")[0]))

    def examine(self, round_: Round) -> Judgement:
        """Perform one round.

        :raises Crashed: When that fails by a fault of ours; the next round begins with everything fresh.
        """
        if not self.ended:
            command = self.command or self.options.session_command()
            keep_session(self.options.run.folder, command, earlier_session(self.options.against))
            if self.before is not None:
                keep_earlier(self.options.run.folder, self.before)
        environment = self._environment = self._environment or self._new_environment()
        try:
            judgement = perform(environment, round_)
        except ScenarioOutOfReach:
            self.out_of_reach.add(round_.scenario.name)
            self.steering.beyond.add(round_.scenario.name)
            self.ended.append(round_)
            raise
        except ClientsNotOffered:
            self.steering.beyond.add(round_.scenario.name)
            raise
        except UserError:
            raise
        except Exception as failure:
            environment.start_afresh("the last round crashed")
            raise self._crashed(round_, failure) from failure
        self.ended.append(round_)
        self.steering.note(round_.folder, environment)
        return judgement

    def close(self) -> None:
        """End the environment and write the session's page."""
        environment, self._environment = self._environment, None
        if environment is not None:
            environment.close()
        if self.ended:
            keep_visited(self.options.run.folder, self.before, self.folders)
            self.page = publish_session(self.options.run.folder, self.folders)

    def print_end(self, stream: TextIO, tests: pytest.Session) -> None:  # noqa: ARG002
        """The rounds together, where one came to its end."""
        if self.ended:
            conclude_session(stream, self.options.run.folder, self.folders, self.page)

    @property
    def before(self) -> EarlierSituations | None:
        """What the sessions visited from which this one goes on."""
        return self.options.after[1] if self.options.after else None

    @property
    def judged(self) -> bool:
        """Whether any round was judged."""
        return any(round_.scenario.name not in self.out_of_reach for round_ in self.ended)

    def next_number(self) -> int:
        """The number of the next round that is printed, from 1."""
        self.rounds_printed += 1
        return self.rounds_printed

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
        reason = str(failure).strip().partition("\n")[0]
        return Crashed(f"Fencepost failed in this round ({type(failure).__name__}: {reason}); the trace is in {trace}")

    def _round(self, number: str, scenario: Scenario, seconds: float, seed: Seed, plan: RoundPlan | None) -> Round:
        folder = self.options.run.folder / f"{number}-{scenario.name}"
        by_seed = self.options.command(scenario, seed, seconds)
        return Round(
            target=self.options.run.target,
            scenario=scenario,
            seed=seed,
            seconds=seconds,
            folder=folder,
            command=by_seed if plan is None else self.options.command_of_plan(folder),
            plan=plan,
        )

    def _new_environment(self) -> Environment:
        options = self.options
        cluster = for_volume(options.run.cluster, seconds=options.cluster_seconds())
        return Environment(
            wanted=replace(options.run, cluster=cluster),
            spark_master=options.spark_master,
            programs=options.programs,
        )
