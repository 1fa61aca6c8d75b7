"""Requirements that are tried at the same time on one cluster: waiting is most of what each of them does.

Only those that leave to others what they find (:attr:`Requirement.beside_others`) take part. Each has clients, topics
and ids of its own, and its draws come from its own stream, so its evidence is what it would be alone.
"""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial

from harness.contract import OwnCluster, Requirement, Verdict
from harness.lab import Lab
from harness.run import Run, examine, open_target, untried

JOBS = 6
"""Requirements at a time on a cluster of ours; two processors are busy with so many."""
MOST_JOBS = 32


@dataclass(slots=True, kw_only=True)
class SideBySide:
    """Begins all fitting requirements of a cluster when the first of them is due; the rest are tried one by one.

    :param requirements: All that will be due, in their order.
    :param jobs: How many at a time; 1 for one after another.
    """

    requirements: Sequence[Requirement[Lab]]
    jobs: int
    _pool: ThreadPoolExecutor | None = None
    _begun: dict[str, Future[Verdict]] = field(default_factory=dict)

    def verdict(self, run: Run, requirement: Requirement[Lab]) -> Verdict:
        """The requirement's verdict, as soon as it is there; :raises Exception: what its stimulus or check raised."""
        if self.jobs > 1 and requirement.beside_others:
            if requirement.id not in self._begun:
                self._begin(run, requirement.cluster)
            return self._begun[requirement.id].result()
        wait(self._begun.values())  # who may disturb others begins when all of them have ended
        return examine(run, requirement)

    def stop(self) -> None:
        """Begin nothing more; returns when what was begun has ended, which is soon once its clients are closed."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _begin(self, run: Run, wish: OwnCluster | None) -> None:
        beside = [due for due in self.requirements if due.beside_others and due.cluster == wish]
        if any(untried(run, due) is None for due in beside):
            open_target(run, wish)
        self._pool = self._pool or ThreadPoolExecutor(self.jobs, thread_name_prefix="requirement")
        for due in beside:
            if due.id not in self._begun:
                self._begun[due.id] = self._pool.submit(partial(examine, run, due))
