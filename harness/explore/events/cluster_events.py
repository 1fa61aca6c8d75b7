"""Events of paths brought about on a running cluster, for all cells of a batch at once."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from harness.base import wait
from harness.evidence.transaction_states import GOING_ON
from harness.explore.cell_run import CellRun
from harness.explore.events.held_links import HeldLinks, HeldRequests
from harness.explore.events.held_writes import HeldWrites
from harness.explore.events.loading_coordinators import LoadingCoordinators
from harness.explore.events.moved_leaders import MovedLeaders
from harness.explore.explored_cluster import ExploredCluster, PartitionPool
from harness.explore.looks.pool_look import await_loaded, described_ids
from harness.kafka.leaders.coordinator_records import ADMIN, append_states
from harness.model.events.model_event import (
    CoordinatorLoads,
    CoordinatorMoves,
    EpochsUsedUp,
    LeaderMoves,
    MarkersWait,
    TimeoutPasses,
)
from harness.model.events.write_events import WriteEvent, WriteLost, WritesOverlap, WriteWaits, moves_coordinator
from harness.model.model_state import CoordinatorState
from harness.wire.records.transaction_state import NewState
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import WireClient

SHORT_TIMEOUT_MS = 5_000
"""Of transactions that are to time out, and in which a batch must be at that step."""
CLEANUP_SECONDS = 20.0
"""That a coordinator may take to find an overdue transaction: Kafka looks every 10 s (``TransactionLogConfig``)."""
NOT_HELD = "what was to wait did not come to the link that is held"
HELD_TOO_LONG = "this machine was too slow: what was held may have been let go before that was due"


@dataclass(slots=True, kw_only=True)
class ClusterEvents:
    """Used by one thread.

    :param held_links: None where there are no links of ours.
    :param connect: A client that nobody else uses, by the client id that it is to have.
    :param lives_on: Whether the cluster is not ours.
    """

    cluster: ExploredCluster
    moved: MovedLeaders
    held_links: HeldLinks | None
    connect: Callable[[str], WireClient]
    lives_on: bool = False
    _markers: HeldRequests | None = None
    _writes: HeldWrites | None = None
    loading: LoadingCoordinators = field(init=False)

    def __post_init__(self) -> None:
        """Nothing loads yet."""
        self.loading = LoadingCoordinators(cluster=self.cluster, moved=self.moved, connect=self.connect)

    def bring_about(self, runs: Sequence[CellRun], pool: PartitionPool) -> PartitionPool:
        """The next event of these cells, which is the same one; the pool as it is led then.

        :raises WireError, Unprepared, TimedOut, GateFailed: When it cannot be.
        """
        match runs[0].next_event:
            case TimeoutPasses():
                self._await_timeouts(runs)
            case CoordinatorMoves():
                self._move_coordinators(runs)
            case CoordinatorLoads():
                self.loading.begin(runs)
            case LeaderMoves(partition=name):
                pool = replace(pool, leaders={**pool.leaders, **self.moved.move(pool.named(name))})
            case EpochsUsedUp():
                self._use_up_epochs(runs)
            case MarkersWait(lost=lost):
                assert self.held_links is not None, "no links"
                self._markers = self.held_links.hold("WriteTxnMarkers", "drop-request" if lost else "hold")
            case WriteWaits() | WriteLost() | WritesOverlap() as event:
                self._hold_writes(runs, pool, event)
        for run in runs:
            if run.next_event is not None:
                run.happened()
        return pool

    def _hold_writes(self, runs: Sequence[CellRun], pool: PartitionPool, event: WriteEvent) -> None:
        assert self.held_links is not None, "no links"
        self._writes = HeldWrites(cluster=self.cluster, links=self.held_links, connect=self.connect)
        self._writes.hold(runs, pool)
        if moves_coordinator(event):
            self._move_coordinators(runs)

    def await_waiting(self, runs: Sequence[CellRun], pool: PartitionPool) -> None:
        """Once transactions have ended whose markers are held: those whose markers are not are missed."""
        if self._markers is None:
            return
        ways = {run.number: self._ways(run, pool) for run in runs if run.held and run.missed is None}
        linked = {way for each in ways.values() for way in each if way in self._markers.between}
        held = self._markers.await_held(linked)
        for run in runs:
            if not ways.get(run.number, set()) <= {*held}:
                run.missed = NOT_HELD

    def let_go(self, runs: Sequence[CellRun]) -> None:
        """What is held until now, and what loads."""
        self.loading.end(runs)
        if self._markers is not None:
            if self._markers.overdue:
                _miss(runs, HELD_TOO_LONG)
            self._markers.let_go()
            self._markers = None
        if self._writes is not None:
            if self._writes.overdue:
                _miss(runs, HELD_TOO_LONG)
            self._writes.let_go()
            self._writes = None

    def end(self) -> None:
        """After the last batch, or an error: nothing is held any more, and what lives on is led as it was."""
        self.let_go(())
        if self.held_links is not None:
            self.held_links.close()
        self.moved.put_back()

    def _await_timeouts(self, runs: Sequence[CellRun]) -> None:
        waiting = {name for run in runs for name in _open_ids(run)}

        def none_open() -> bool:
            shown = described_ids(self.cluster, sorted(waiting))
            waiting.difference_update(name for name, each in shown.items() if each["state"] not in GOING_ON)
            return not waiting

        seconds = SHORT_TIMEOUT_MS / 1000 + CLEANUP_SECONDS
        if waiting:
            wait.elapsed_ms_until(none_open, timeout_seconds=seconds, interval_seconds=0.1)
        for run in runs:
            if waiting & _open_ids(run):
                run.stray("aborted by its coordinator", f"still open {seconds:g} s after it began")

    def _use_up_epochs(self, runs: Sequence[CellRun]) -> None:
        """By what their coordinators read in their log once they have moved."""
        with closing(self.connect(ADMIN)) as client:
            for (_, index), written in self._last_epochs(runs).items():
                append_states(client, index, self.cluster.coordinator(written[0].transactional_id), written)
        self._move_coordinators(runs)

    def _last_epochs(self, runs: Sequence[CellRun]) -> Mapping[TopicPartition, Sequence[NewState]]:
        found: dict[TopicPartition, list[NewState]] = {}
        for run in runs:
            event = run.next_event
            if isinstance(event, EpochsUsedUp):
                name, known = run.who.ids[event.id], run.expected.ids[event.id]
                state = NewState(name, run.who.producer_id(known.producer_id), event.epoch, run.who.timeout_ms)
                found.setdefault(self.cluster.state_place(name), []).append(state)
        return found

    def _move_coordinators(self, runs: Sequence[CellRun]) -> None:
        """All of them; a cluster that lives on gets its own order back at the end."""
        for place in self.cluster.state_places() if self.lives_on else ():
            self.moved.orders.setdefault(place, self.moved.view.partition(*place)["replicas"])
        self.moved.move(self.cluster.state_places())
        await_loaded(self.cluster)
        for run in runs:
            run.who.coordinators_moved(self.cluster.coordinator_epochs(run.who.ids))

    def _ways(self, run: CellRun, pool: PartitionPool) -> set[tuple[int, int]]:
        """From the coordinator to the leaders of partitions to which the model says that markers are under way."""
        return {
            (self.cluster.coordinator(run.who.ids[name]), pool.everywhere[run.who.places[partition]])
            for name, known in run.expected.ids.items()
            if known.state.preparing
            for partition in known.partitions
        }


def _open_ids(run: CellRun) -> set[str]:
    known = run.expected.ids.items()
    return {run.who.ids[name] for name, each in known if each.state is CoordinatorState.ONGOING}


def _miss(runs: Sequence[CellRun], why: str) -> None:
    for run in runs:
        run.missed = run.missed or why
