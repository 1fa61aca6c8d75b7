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
from suites.model.failpoints.tried_failpoints import FailpointOutcome, TriedFailpoint

SEED = 1
MAY_BE_ANOTHERS = (FailpointOutcome.LASTS, FailpointOutcome.LOST)
"""Outcomes that rules which were loaded before may have brought about."""
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

        On one that served others before, it is tried again on a new one where what was seen may be what they left.

        :raises UserError: When none can be had.
        """
        line = self._tried(failpoint)
        if line.outcome in MAY_BE_ANOTHERS and self._served > 1:
            self._close()
            line = self._tried(failpoint)
        if line.is_seen or line.why:
            self._keep_if_sound()
        return line

    def _tried(self, failpoint: KnownFailpoint) -> TriedFailpoint:
        trials = self._sound_cluster(failpoint.version)
        self._served += 1
        return trials.tried(failpoint)

    def _sound_cluster(self, version: str) -> FailpointTrials:
        if self._trials is None or version != self._version or self._served >= AT_MOST:
            self._close()
            self._trials, self._version = self._opened(version), version
        return self._trials

    def _keep_if_sound(self) -> None:
        if self._trials is not None and not self._trials.sound():
            self._close()

    def _close(self) -> None:
        self._up.close()
        self._trials, self._served = None, 0

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
