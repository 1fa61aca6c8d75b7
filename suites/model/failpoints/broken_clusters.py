"""One cluster for many failpoints: a new one where the last rules left it unsound, or for another release."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import TracebackType

from harness.base.seed import Seed
from harness.cluster.cluster import ClusterOptions
from harness.cluster.run_options import RunOptions
from harness.explore.cell_exploration import open_exploration
from harness.explore.explore_options import ExploreOptions
from suites.model.failpoints.failpoint_trials import FailpointTrials, trials_on
from suites.model.failpoints.known_failpoints import KnownFailpoint
from suites.model.failpoints.tried_failpoints import TriedFailpoint

SEED = 1
AT_MOST = 40
"""Failpoints that a cluster serves: what each leaves behind, above all open transactions, adds up."""


@dataclass(slots=True, kw_only=True)
class BrokenClusters:
    """A context manager; ends the cluster that is up.

    :param folder: Holds a run folder for each cluster.
    """

    folder: Path
    backend: str
    _trials: FailpointTrials | None = None
    _version: str = ""
    _served: int = 0
    _up: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> "BrokenClusters":
        """No cluster is up before it is needed."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the cluster."""
        self._up.close()

    def tried(self, failpoint: KnownFailpoint) -> TriedFailpoint:
        """On a cluster that is sound without the rules.

        :raises UserError: When none can be had.
        """
        trials = self._sound_cluster(failpoint.version)
        line, self._served = trials.tried(failpoint), self._served + 1
        if line.is_seen or line.why:
            self._keep_if_sound(trials)
        return line

    def _sound_cluster(self, version: str) -> FailpointTrials:
        if self._trials is None or version != self._version or self._served >= AT_MOST:
            self._up.close()
            self._trials, self._version, self._served = self._opened(version), version, 0
        return self._trials

    def _keep_if_sound(self, trials: FailpointTrials) -> None:
        if not trials.sound():
            self._up.close()
            self._trials = None

    def _opened(self, version: str) -> FailpointTrials:
        numbered = (self.folder / f"cluster-{number}" for number in count(1))
        run = RunOptions(
            target=f"kafka:{version}",
            folder=next(each for each in numbered if not each.exists()),
            backend=self.backend,
            seed=Seed(SEED),
            cluster=ClusterOptions(breakable=True),
        )
        trials = trials_on(self._up.enter_context(open_exploration(ExploreOptions(run=run))))
        if not trials.sound():
            raise RuntimeError(f"kafka:{version} differs from the model before any rule is loaded")
        return trials
