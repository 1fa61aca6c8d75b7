"""A session of chaos on each broken Kafka: the usual rounds, until one is red or the time is over."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType

from harness.app.chaos.chaos_session import ChaosSession
from harness.app.options import own_programs
from harness.base.interrupts import is_interrupt
from harness.base.seed import Seed
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.scenario import Scenario
from harness.chaos.play.environment import Environment
from harness.cluster.cluster import BreakCode, Cluster, ClusterOptions
from harness.cluster.run_options import RunOptions
from harness.evidence.status import Status
from harness.run_chaos import perform
from suites.chaos.failpoints.chaos_trials import ChaosOutcome, ChaosTrial, unplayed
from suites.chaos.failpoints.sparing_rules import sparing, took_effect
from suites.model.failpoints.known_failpoints import KnownFailpoint

SPARED_SECONDS = 8.0
"""After the start of a cluster, that rules have no effect: its first clients begin some six seconds after it.

Not longer: a session has time for one round of each scenario, and clients are at work for ten seconds of the first.
"""


@dataclass(slots=True, kw_only=True)
class BrokenSessions:
    """A context manager; one Spark for all, and a cluster of its own for each failpoint.

    :param folder: Holds the rounds that are red. :param seconds: Of each session.
    """

    folder: Path
    scenarios: Sequence[Scenario]
    backend: str
    seconds: float
    _environment: Environment = field(init=False)
    _failpoint: KnownFailpoint | None = None
    _logs: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Nothing is started before it is needed."""
        wanted = RunOptions(target="", folder=self.folder, backend=self.backend, cluster=ClusterOptions(breakable=True))
        self._environment = Environment(wanted=wanted, programs=own_programs(self.scenarios), opened=self._break)

    def __enter__(self) -> "BrokenSessions":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._environment.close()

    def tried(self, failpoint: KnownFailpoint) -> ChaosTrial:
        """Round by round, until one is red; rounds that an interrupted trial of it has left are removed first."""
        started, environment = time.monotonic(), self._environment
        shutil.rmtree(self.folder / failpoint.key, ignore_errors=True)
        environment.wanted = replace(environment.wanted, target=f"kafka:{failpoint.version}")
        self._failpoint = failpoint
        self._logs.clear()
        line = unplayed(failpoint)
        try:
            environment.open()
            line = self._played(line, self._session(failpoint))
        except RuntimeError as failed:
            if is_interrupt(failed):
                raise
            line = replace(line, outcome=ChaosOutcome.FAILED, why=str(failed))
        finally:
            environment.replace_cluster("another failpoint")
        return replace(line, seconds=round(time.monotonic() - started, 1))

    def _session(self, failpoint: KnownFailpoint) -> ChaosSession:
        """As ``fencepost chaos TARGET --budget TIME`` plays it."""
        run = replace(
            self._environment.wanted, folder=self.folder / failpoint.key, seed=Seed(int(failpoint.key, 16) % 10**6)
        )
        return ChaosSession(options=ChaosOptions(run=run, scenarios=self.scenarios, budget_seconds=self.seconds))

    def _played(self, line: ChaosTrial, session: ChaosSession) -> ChaosTrial:
        for round_ in session.rounds:
            if not session.reaches(round_):
                break
            session.ended.append(round_)
            conclusion, anomalies = self._conclusion(round_)
            line = replace(line, rounds=(*line.rounds, (round_.scenario.name, conclusion)), anomalies=anomalies)
            if anomalies:
                break
            shutil.rmtree(round_.folder, ignore_errors=True)
        return _concluded(self._with_effects(line))

    def _conclusion(self, round_: Round) -> tuple[str, tuple[str, ...]]:
        """What a round came to; one in which a broken Kafka lets nothing be prepared is told with the reason."""
        try:
            judgement = perform(self._environment, round_)
        except Exception as failure:  # whatever it is, the next round may show more
            if is_interrupt(failure):
                raise
            self._environment.start_afresh("the last round crashed")
            return f"{type(failure).__name__}: {failure}".partition("\n")[0], ()
        return judgement.status, tuple(judgement.anomalies)

    def _break(self, cluster: Cluster) -> None:
        assert isinstance(cluster, BreakCode), "the cluster was started to be broken"
        assert self._failpoint is not None, "a cluster is opened to be broken"
        until_ms = round((time.time() + SPARED_SECONDS) * 1000)
        cluster.load_rules(sparing(self._failpoint.rules, until_ms, self._failpoint.key))
        self._logs.extend(cluster.logs().values())

    def _with_effects(self, line: ChaosTrial) -> ChaosTrial:
        return replace(line, entered=self._entered(), took_effect=tuple(sorted(took_effect(self._logs, line.key))))

    def _entered(self) -> tuple[str, ...]:
        """Of the cluster that is up; none where the last round has ended it."""
        cluster = self._environment.open()
        assert isinstance(cluster, BreakCode), "the cluster was started to be broken"
        return tuple(sorted(cluster.entered_rules()))


def _concluded(line: ChaosTrial) -> ChaosTrial:
    if line.anomalies:
        return replace(line, outcome=ChaosOutcome.FOUND if line.took_effect else ChaosOutcome.FALSE_ALARM)
    if not line.took_effect:
        return replace(line, outcome=ChaosOutcome.WITHOUT_EFFECT if line.entered else ChaosOutcome.NOT_ENTERED)
    judged = any(conclusion in (Status.HOLDS, Status.UNDECIDED) for _, conclusion in line.rounds)
    return replace(line, outcome=ChaosOutcome.NOT_FOUND if judged else ChaosOutcome.NOT_SHOWN)
