"""One target that is asked cells, in batches side by side; each result is kept as soon as there is one."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Lock
from typing import NoReturn

from harness.base import wait
from harness.base.clock import RunClock
from harness.base.unprepared import Unprepared
from harness.base.user_error import ExitCode, UserError
from harness.cluster.cluster import Cluster
from harness.cluster.observer_client import observer_client
from harness.cluster.opening import choose_backend, open_cluster
from harness.cluster.target import parse_target
from harness.evidence.recorder import NullRecorder
from harness.evidence.run_folder import RunFolder
from harness.explore.asker import opened
from harness.explore.cell_batch import begun
from harness.explore.cell_results import not_reached
from harness.explore.cell_run import TIMED_OUT
from harness.explore.events.cluster_events import HELD_TOO_LONG, ClusterEvents
from harness.explore.events.held_links import HeldLinks
from harness.explore.events.loading_coordinators import LONG
from harness.explore.events.moved_leaders import MovedLeaders
from harness.explore.events.planned_batches import PlannedBatch, planned, smaller_batches
from harness.explore.events.reach import EventReach
from harness.explore.explore_options import ExploreOptions
from harness.explore.explored_cluster import ExploredCluster, PartitionPool, group_partitions
from harness.explore.findings import Findings, FreshResult
from harness.explore.looks.pool_look import await_loaded
from harness.explore.real_requests import LARGEST_BATCH
from harness.faults.frame_gate import GateFailed
from harness.faults.gate.gate import open_gate
from harness.kafka.administration import VERIFICATION, Administration
from harness.kafka.any_broker import AnyBroker
from harness.kafka.belongings import Belongings
from harness.kafka.coordinators import Coordinators
from harness.kafka.leaders.brokers_view import BrokersView
from harness.kafka.targets.target_features import TargetFeatures, read_target_features
from harness.model.events.model_event import events_of
from harness.model.events.slow_cells import slow_cells
from harness.model.grid import GridCell, grid_cells
from harness.model.model_requests import ModelRequest, ProduceAsked, WriteMarkerAsked
from harness.model.protocol_profile import ProtocolProfile, profile_of
from harness.wire.records.transaction_state import TOPIC
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import WireError

COPIES_TO_MOVE = 2
"""Of partitions whose leaders move."""
LANES = 12
"""Connections to each broker, for each batch that is under way."""
ON_OTHERS = 2_000
"""Cells that a cluster which is not ours is asked, unless more are wanted: transactional ids stay for a week."""
BATCHES_AT_ONCE = 2
"""While one waits for its last answers, or for a topic, another one asks."""
TOO_SLOW, AGAIN = (TIMED_OUT, HELD_TOO_LONG), "being too slow in a larger batch"
"""Why a cell is asked once more, in a smaller batch, and how that is told."""
LOOKS = ("DescribeProducers", "DescribeTransactions", "Fetch", "ListOffsets")
"""APIs without which nothing can be compared."""


@dataclass(slots=True, kw_only=True)
class Exploration:
    """One target's. Results are written by the thread that began it."""

    options: ExploreOptions
    folder: RunFolder
    cluster: Cluster
    offer: TargetFeatures
    clock: RunClock
    belongings: list[Belongings] = field(default_factory=list)
    asked_again: Counter[str] = field(default_factory=Counter)
    late: list[str] = field(default_factory=list)
    verifying: Lock = field(default_factory=Lock)
    pools: Iterator[int] = field(default_factory=count)
    _told_without_records: bool = False

    def profile(self) -> ProtocolProfile:
        """What is asked for, else by what brokers advertise, and by the switch of verification."""
        found = self.options.profile or profile_of(
            produce=self._highest("Produce"),
            write_markers=self._highest("WriteTxnMarkers"),
            add_partitions=self._highest("AddPartitionsToTxn"),
            level=self.offer.finalized.get("transaction.version", 0),
            offset_commit=self._highest("TxnOffsetCommit"),
            list_transactions=self._highest("ListTransactions"),
            describe_log_dirs=self._highest("DescribeLogDirs"),
            verification=self._verifies(),
        )
        return replace(found, verifies=True, verifies_offsets=True) if self.options.defended else found

    def cells(self, profile: ProtocolProfile) -> Sequence[tuple[int, GridCell]]:
        """Numbered from 1 in the grid's order; the seed decides which of them share partitions."""
        limit = self.options.limit
        if limit is None and not self.cluster.owned:
            self.options.run.progress(
                f"the first {ON_OTHERS} cells: each leaves two transactional ids (--limit for more)"
            )
            limit = ON_OTHERS
        cells = slow_cells if self.options.slow else grid_cells
        numbered = list(enumerate(cells(profile, self.offer.apis, limit), start=1))
        if not (self.cluster.owned or self.options.run.permissions.changes):
            numbered = [(number, cell) for number, cell in numbered if not isinstance(cell.asked, WriteMarkerAsked)]
        if not self.cluster.owned:  # whose topics have a limit that we do not know
            numbered = [(number, cell) for number, cell in numbered if not _is_too_large(cell.asked)]
        self.options.run.seed.stream("cells").shuffle(numbered)
        return numbered

    def explore(
        self, numbered: Sequence[tuple[int, GridCell]], profile: ProtocolProfile, found: Findings
    ) -> str | None:
        """Every cell, batch by batch; why it ended early, or None. What was compared before that is kept."""
        batches = planned(self._within_reach(numbered, found))
        some = [each for each in batches if not each.alone]
        shares = [some[share::BATCHES_AT_ONCE] for share in range(BATCHES_AT_ONCE)]
        one_by_one = sorted((each for each in batches if each.alone), key=lambda each: each.loads)  # long logs stay
        return self._in_shares(shares, profile, found) or self._in_shares([one_by_one], profile, found)

    def _in_shares(
        self, shares: Sequence[Sequence[PlannedBatch]], profile: ProtocolProfile, found: Findings
    ) -> str | None:
        """Side by side, each in a thread of its own."""
        with ThreadPoolExecutor(BATCHES_AT_ONCE, thread_name_prefix="cells") as threads:
            running = [threads.submit(self._share, batches, profile, found) for batches in shares if batches]
            try:
                whys = [_why_lost(each) for each in running]
            except BaseException:
                found.lost = True  # an interrupt: batches that are under way end, and no other one begins
                raise
        return next(filter(None, whys), None)

    def _share(self, batches: Sequence[PlannedBatch], profile: ProtocolProfile, found: Findings) -> None:
        try:
            self._explore(batches, profile, found)
        except BaseException:
            found.lost = True
            raise

    def _explore(self, batches: Sequence[PlannedBatch], profile: ProtocolProfile, found: Findings) -> None:
        with self._explored() as explored, self._events(explored) as events:
            before: PartitionPool | None = None
            waiting = deque(batches)
            while waiting and not found.lost:
                planned_batch = waiting.popleft()
                pool = self._pool(planned_batch, explored, events)
                batch = begun(planned_batch.cells, explored, pool, profile, events)
                waiting.extendleft(self._added(found, planned_batch, batch.explore()))
                self.asked_again.update(batch.asked_again)
                self.late += batch.late
                if before is not None:
                    explored.remove(before)
                before = pool

    def _added(self, found: Findings, batch: PlannedBatch, results: Sequence[FreshResult]) -> Sequence[PlannedBatch]:
        """Keep results; the batches in which those are to be asked again for which this machine was too slow."""
        too_slow = {each.result.cell for each in results if each.result.why in TOO_SLOW}
        smaller = smaller_batches(batch, too_slow)
        again = {number for each in smaller for number, _ in each.cells}
        found.add(each for each in results if each.result.cell not in again)
        if again:
            self.asked_again[AGAIN] += len(again)
        return smaller

    def _pool(self, batch: PlannedBatch, explored: ExploredCluster, events: ClusterEvents) -> PartitionPool:
        if batch.loads:
            events.loading.lengthen()
            self._look_at_records(explored)  # not at what was only to make the log long
        return explored.new_pool(
            next(self.pools),
            copies=COPIES_TO_MOVE if batch.moves_leaders else 1,
            apart=batch.apart,
            kept_by=LONG[1] if batch.loads else None,
        )

    def _within_reach(
        self, numbered: Sequence[tuple[int, GridCell]], found: Findings
    ) -> Sequence[tuple[int, GridCell]]:
        """What the target allows; the others are told with their reasons."""
        if all(not events_of(cell.path) for _, cell in numbered):
            return numbered
        reach = self._reach()
        reasons = {number: reach.why_not(cell.path) for number, cell in numbered}
        left = [not_reached(number, cell, why) for number, cell in numbered if (why := reasons[number])]
        found.add(map(FreshResult, left))
        return [(number, cell) for number, cell in numbered if reasons[number] is None]

    def _reach(self) -> EventReach:
        brokers = self.cluster.topology.brokers
        with closing(self._client()) as client:
            Coordinators(AnyBroker(client, brokers)).of(f"{self.options.run.permissions.prefix}first")
            shown = AnyBroker(client, brokers).first(Metadata(topics=(TOPIC,))).topics.get(TOPIC)
        kept = () if shown is None else shown["partitions"].values()
        return EventReach(
            brokers=len(brokers),
            changes=self.cluster.owned or self.options.run.permissions.changes,
            state_copies=min((len(each["replicas"]) for each in kept), default=0),
            links=self.cluster.links is not None and bool(self._links_between_brokers()),
            owned=self.cluster.owned,
        )

    def _links_between_brokers(self) -> Mapping[tuple[int, int], str]:
        brokers = {*self.cluster.topology.brokers}
        return {ends: proxy for ends, proxy in self.cluster.topology.links.items() if {*ends} <= brokers}

    @contextmanager
    def _explored(self) -> Iterator[ExploredCluster]:
        belongings = Belongings(permissions=self.options.run.permissions)
        self.belongings.append(belongings)
        with closing(self._client()) as observer, opened(self._client, LANES) as asker:
            brokers = self.cluster.topology.brokers
            explored = ExploredCluster(
                asker=asker,
                observer=observer,
                brokers=brokers,
                belongings=belongings,
                verifying=self.verifying,
                topic_settings={"max.message.bytes": str(LARGEST_BATCH)} if self.cluster.owned else {},
            )
            explored.prepare()
            await_loaded(explored)
            self._look_at_records(explored)
            yield explored

    def _look_at_records(self, explored: ExploredCluster) -> None:
        """From now on; where that cannot be, it is told."""
        if not self.options.records:
            return
        explored.look_at_records(self._without_records)
        if explored.records is None:
            self._without_records("the topic is not shown")

    def _without_records(self, why: str) -> None:
        if not self._told_without_records:
            self.options.run.progress(f"what coordinators write into {TOPIC} is not compared: {why}")
        self._told_without_records = True

    @contextmanager
    def _events(self, explored: ExploredCluster) -> Iterator[ClusterEvents]:
        between, links = self._links_between_brokers(), self.cluster.links
        held = HeldLinks(links=links, between=between, open_gate=open_gate) if links is not None and between else None
        events = ClusterEvents(
            cluster=explored,
            moved=MovedLeaders(view=BrokersView(explored.observer, explored.brokers)),
            held_links=held,
            connect=self._client,
            lives_on=not self.cluster.owned,
        )
        try:
            yield events
        finally:
            events.end()

    def lost(self, compared: int, why: str) -> NoReturn:
        """:raises UserError: that the target was lost."""
        sentence = f"{self.cluster.identity} was lost after {compared} of them, which are kept: {why}"
        raise UserError(sentence, exit=ExitCode.TARGET_UNREACHABLE)

    def tidy(self) -> None:
        """Remove what is left on a cluster that lives on, and tell what stays."""
        if self.cluster.owned:
            return
        with closing(self._client()) as client:
            for belongings in self.belongings:
                belongings.remove_all(AnyBroker(client, self.cluster.topology.brokers))
        for sentence in (sentence for belongings in self.belongings for sentence in belongings.left()):
            self.options.run.progress(sentence)

    def _verifies(self) -> bool:
        """What the switch says; where nobody tells settings, as Kafka does it by default."""
        with closing(self._client()) as client:
            admin = Administration(client, self.cluster.topology.brokers)
            try:
                return admin.config(self.cluster.topology.brokers[0], VERIFICATION) == "true"
            except WireError:
                return True

    def _highest(self, api: str) -> int:
        return self.offer.apis.get(api, (0, -1))[1]

    def _client(self, actor: str = "observer") -> WireClient:
        return observer_client(self.cluster.topology, self.clock, actor=actor, offered=self.offer.brokers)


def _is_too_large(asked: ModelRequest) -> bool:
    return isinstance(asked, ProduceAsked) and asked.too_large


def _why_lost(share: Future[None]) -> str | None:
    try:
        share.result()
    except (WireError, Unprepared, wait.TimedOut, GateFailed) as lost:
        return str(lost)
    return None


@contextmanager
def open_exploration(options: ExploreOptions) -> Iterator[Exploration]:
    """A target that is up, and the run folder, for the length of the block.

    :raises UserError: When the target cannot be had, or knows no transactions.
    """
    folder = RunFolder.create(options.run.folder, options.described())
    clock, target = RunClock(), parse_target(options.run.target)
    choice = choose_backend(target, options.run.backend)
    options.run.progress(f"{target} on the {choice.backend} backend ({choice.why}), seed {options.run.seed.value}")
    cluster = open_cluster(
        target,
        backend=options.run.backend,
        options=options.run.cluster,
        run_dir=folder.path,
        progress=options.run.progress,
    )
    with closing(cluster):
        offer = _without_groups(cluster, clock, options, read_target_features(cluster, clock, NullRecorder()))
        folder.add_to_run(offer.described(cluster))
        _require_looks(cluster, offer)
        exploration = Exploration(options=options, folder=folder, cluster=cluster, offer=offer, clock=clock)
        try:
            yield exploration
        finally:
            exploration.tidy()


def _without_groups(
    cluster: Cluster, clock: RunClock, options: ExploreOptions, offer: TargetFeatures
) -> TargetFeatures:
    """What is offered, without offsets in transactions where the partitions that keep groups are not shown."""
    with closing(observer_client(cluster.topology, clock, offered=offer.brokers)) as client:
        name = Belongings(permissions=options.run.permissions).name("first")
        if group_partitions(AnyBroker(client, cluster.topology.brokers), name):
            return offer
    return replace(offer, apis={api: versions for api, versions in offer.apis.items() if api != "TxnOffsetCommit"})


def _require_looks(cluster: Cluster, offer: TargetFeatures) -> None:
    if missing := [api for api in LOOKS if api not in offer.apis]:
        sentence = f"{cluster.identity} does not offer {', '.join(missing)}, by which a state is looked at"
        raise UserError(sentence, exit=ExitCode.TARGET_UNREACHABLE)
