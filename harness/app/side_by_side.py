"""Requirements that are tried at the same time, on one cluster and on two: waiting is most of what each of them does.

On one cluster only those take part that leave to others what they find (:attr:`Requirement.beside_others`). Each has
clients, topics and ids of its own, and its draws come from its own stream, so its evidence is what it would be alone.
Where there are processors enough for two clusters, those that must be alone on theirs are tried on two: a second run
begins with what asks for clusters of its own, and then helps with the rest on another cluster like the common one.
"""

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event
from typing import Any, TypeAlias

from harness.app.lots import Lot, Lots, lots_of
from harness.cluster.target import External, parse_target
from harness.contract import Requirement, Verdict
from harness.lab import Lab
from harness.run import Run, beside, close_beside, examine, open_target, untried

JOBS = 6
"""Requirements at a time on a cluster of ours; two processors are busy with so many."""
MOST_JOBS = 32
MOST_CLUSTERS = 2
PROCESSORS_FOR_TWO = 2
"""Two clusters keep so many busy; with fewer, brokers answer too late to show what is asked of them."""
Begun: TypeAlias = dict[str, Future[None]]
"""What one run has given to other threads, by requirement."""


def second_cluster_thread() -> ThreadPoolExecutor:
    """For one second cluster at a time."""
    return ThreadPoolExecutor(1, thread_name_prefix="second cluster")


def usual_clusters() -> int:
    """How many this machine has processors for."""
    return MOST_CLUSTERS if (os.cpu_count() or 1) >= PROCESSORS_FOR_TWO else 1


@dataclass(slots=True, kw_only=True)
class SideBySide:
    """Tries the requirements lot by lot until the one is tried that is due.

    :param requirements: All that will be due, in their order.
    :param jobs: How many at a time on one cluster; 1 for one after another, on one cluster at a time.
    :param clusters: How many may be up at a time.
    :param own_beside_all: Whether a cluster of their own may be up beside what is tried at the same time; else only
        beside what is alone on its cluster, because the processors are busy before that.
    :param helper: The thread of the second run; those that share one have a second cluster one after the other.
    """

    requirements: Sequence[Requirement[Lab]]
    jobs: int
    clusters: int = 1
    own_beside_all: bool = False
    helper: ThreadPoolExecutor = field(default_factory=second_cluster_thread)
    _lots: Lots = field(init=False)
    _verdicts: dict[str, Future[Verdict]] = field(init=False)
    _pool: ThreadPoolExecutor = field(init=False)
    _second: Run | None = None
    _helping: Future[None] | None = None
    _begun: Begun = field(default_factory=dict)
    _stopped: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        """Threads start with what they are given first."""
        self._lots = lots_of(self.requirements)
        self._verdicts = {each.id: Future() for each in self.requirements}
        self._pool = ThreadPoolExecutor(self.jobs, thread_name_prefix="requirement")

    def verdict(self, run: Run, requirement: Requirement[Lab]) -> Verdict:
        """The requirement's verdict, as soon as it is there; :raises Exception: what its stimulus or check raised."""
        if self.jobs == 1:
            return examine(run, requirement)
        given = self._verdicts[requirement.id]
        while not given.done() and requirement.id not in self._begun and (lot := self._lots.first()):
            if self._opened(run, lot, self._begun):
                self._begin_second(run, lot)
                self._try(run, lot, self._begun)
        if self._helping is not None:
            either: tuple[Future[Any], ...] = given, self._helping
            wait(either, return_when=FIRST_COMPLETED)
            if not given.done():
                self._helping.result()  # what ended the second run, if it did not end in order
        return given.result()

    def begin_no_more(self) -> None:
        """What was begun goes on."""
        self._stopped.set()
        self._lots.clear()

    def stop(self) -> None:
        """Begin nothing more; returns when what was begun has ended, which is soon once its clients are closed."""
        self.begin_no_more()
        unfinished = not all(given.done() for given in self._verdicts.values())
        if unfinished and self._second is not None and (cluster := self._second.cluster) is not None:
            cluster.close()  # what waits for its brokers on another thread ends now
        self._pool.shutdown(wait=True, cancel_futures=True)
        self.helper.shutdown(wait=True)
        if self._helping is not None:
            self._helping.result()

    def _begin_second(self, run: Run, lot: Lot) -> None:
        """Once, where there is anything to share and we may start clusters."""
        busy = lot.wish is None and bool(lot.beside) and not self.own_beside_all
        theirs = isinstance(parse_target(run.options.target), External)
        if self.clusters > 1 and self._helping is None and self._lots.left and not busy and not theirs:
            self._second = beside(run)
            self._helping = self.helper.submit(self._help, self._second)

    def _help(self, second: Run) -> None:
        begun: Begun = {}
        try:
            while lot := self._lots.apart(on_common=second.cluster is not None and second.wish is None):
                if self._opened(second, lot, begun):
                    self._try(second, lot, begun)
            wait(begun.values())
        finally:
            close_beside(second)

    def _opened(self, run: Run, lot: Lot, begun: Begun) -> bool:
        """Whether the lot can be tried: its cluster is open, if any of it needs that; nobody else is tried on it.

        :param begun: Those of this run that were begun.
        """
        wait(begun.values())  # who may disturb others begins when all of them have ended
        try:
            if any(untried(run, due) is None for due in lot.requirements):
                if run.offered is None and any(each.after_the_target for each in (lot, *self._lots.left)):
                    open_target(run)  # what the target offers is learned once, before a second run needs it
                open_target(run, lot.wish)
        except Exception as failure:  # noqa: BLE001  raised again where a verdict is asked for
            for due in lot.requirements:
                self._verdicts[due.id].set_exception(failure)
            return False
        return True

    def _try(self, run: Run, lot: Lot, begun: Begun) -> None:
        """Those that may be tried at the same time are only begun; each verdict, or what was raised, is kept."""
        begun |= {due.id: self._pool.submit(self._examine, run, due) for due in lot.beside}
        for due in lot.alone:
            wait(begun.values())
            self._examine(run, due)

    def _examine(self, run: Run, requirement: Requirement[Lab]) -> None:
        if self._stopped.is_set():
            return
        try:
            verdict = examine(run, requirement)
        except Exception as failure:  # noqa: BLE001  raised again where the verdict is asked for
            self._verdicts[requirement.id].set_exception(failure)
        else:
            self._verdicts[requirement.id].set_result(verdict)
