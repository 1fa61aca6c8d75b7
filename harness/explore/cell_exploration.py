"""``fencepost explore``: from a target to every cell's result, in the run folder as soon as there is one."""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from threading import Lock
from typing import NoReturn, TypeAlias

from harness.base import wait
from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.paths import EXPLAINED
from harness.base.unprepared import Unprepared
from harness.base.user_error import ExitCode, UserError
from harness.cluster.cluster import Cluster
from harness.cluster.observer_client import observer_client
from harness.cluster.opening import choose_backend, open_cluster
from harness.cluster.run_options import RunOptions
from harness.cluster.target import parse_target
from harness.evidence.recorder import NullRecorder
from harness.evidence.run_folder import RunFolder
from harness.explore.asker import opened
from harness.explore.cell_batch import begun
from harness.explore.explained import read_explanations
from harness.explore.explored_cluster import ExploredCluster, PartitionPool, group_partitions
from harness.explore.findings import Findings, summary
from harness.explore.looks.pool_look import await_loaded
from harness.kafka.administration import VERIFICATION, Administration
from harness.kafka.any_broker import AnyBroker
from harness.kafka.belongings import Belongings
from harness.kafka.target_features import TargetFeatures, read_target_features
from harness.model.grid import GridCell, grid_cells
from harness.model.model_requests import WriteMarkerAsked
from harness.model.protocol_profile import ProtocolProfile, profile_of
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import WireError

BATCH = 600
"""Cells side by side."""
LANES = 12
"""Connections to each broker, for each batch that is under way."""
ON_OTHERS = 2_000
"""Cells that a cluster which is not ours is asked, unless more are wanted: transactional ids stay for a week."""
BATCHES_AT_ONCE = 2
"""While one waits for its last answers, or for a topic, another one asks."""
LOOKS = ("DescribeProducers", "DescribeTransactions", "Fetch", "ListOffsets")
"""APIs without which nothing can be compared."""
Batches: TypeAlias = Sequence[Sequence[tuple[int, GridCell]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """What the command line gives.

    :param limit: Of cells, those of the nearest states; None for all.
    :param profile: What the target must do; None for what its brokers advertise.
    :param defended: Whether it must have the defence of KIP-890 part 1, advertised or not.
    :param walk_seconds: Walks are asked for so long, in place of cells.
    """

    run: RunOptions
    limit: int | None = None
    profile: ProtocolProfile | None = None
    defended: bool = False
    walk_seconds: float | None = None

    def command(self) -> str:
        """The one command that does the same again."""
        own = ["--seed", str(self.run.seed.value), *(["--limit", str(self.limit)] if self.limit is not None else [])]
        own += ["--defended"] if self.defended else []
        own += ["--walks", f"{self.walk_seconds:g}s"] if self.walk_seconds is not None else []
        return self.run.command("explore", *own)


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

    def profile(self) -> ProtocolProfile:
        """What is asked for, else by what brokers advertise, and by the switch of verification."""
        found = self.options.profile or profile_of(
            produce=self._highest("Produce"),
            write_markers=self._highest("WriteTxnMarkers"),
            add_partitions=self._highest("AddPartitionsToTxn"),
            level=self.offer.finalized.get("transaction.version", 0),
            offset_commit=self._highest("TxnOffsetCommit"),
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
        numbered = list(enumerate(grid_cells(profile, self.offer.apis, limit), start=1))
        if not (self.cluster.owned or self.options.run.permissions.changes):
            numbered = [(number, cell) for number, cell in numbered if not isinstance(cell.asked, WriteMarkerAsked)]
        self.options.run.seed.stream("cells").shuffle(numbered)
        return numbered

    def explore(
        self, numbered: Sequence[tuple[int, GridCell]], profile: ProtocolProfile, found: Findings
    ) -> str | None:
        """Every cell, batch by batch; why it ended early, or None. What was compared before that is kept."""
        batches = [numbered[at : at + BATCH] for at in range(0, len(numbered), BATCH)]
        with ThreadPoolExecutor(BATCHES_AT_ONCE, thread_name_prefix="cells") as threads:
            running = [
                threads.submit(self._share, batches[share::BATCHES_AT_ONCE], share, profile, found)
                for share in range(BATCHES_AT_ONCE)
            ]
            try:
                whys = [_why_lost(each) for each in running]
            except BaseException:
                found.lost = True  # an interrupt: batches that are under way end, and no other one begins
                raise
        return next(filter(None, whys), None)

    def _share(self, batches: Batches, share: int, profile: ProtocolProfile, found: Findings) -> None:
        try:
            self._explore(batches, share, profile, found)
        except BaseException:
            found.lost = True
            raise

    def _explore(self, batches: Batches, share: int, profile: ProtocolProfile, found: Findings) -> None:
        with self._explored() as explored:
            before: PartitionPool | None = None
            for index, cells in enumerate(batches):
                if found.lost:
                    return
                pool = explored.new_pool(index * BATCHES_AT_ONCE + share)
                batch = begun(cells, explored, pool, profile)
                found.add(batch.explore())
                self.asked_again.update(batch.asked_again)
                self.late += batch.late
                if before is not None:
                    explored.remove(before)
                before = pool

    @contextmanager
    def _explored(self) -> Iterator[ExploredCluster]:
        belongings = Belongings(permissions=self.options.run.permissions)
        self.belongings.append(belongings)
        with closing(self._client()) as observer, opened(self._client, LANES) as asker:
            brokers = self.cluster.topology.brokers
            explored = ExploredCluster(
                asker=asker, observer=observer, brokers=brokers, belongings=belongings, verifying=self.verifying
            )
            explored.prepare()
            await_loaded(explored)
            yield explored

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

    def _client(self) -> WireClient:
        return observer_client(self.cluster.topology, self.clock, offered=self.offer.brokers)


def _why_lost(share: Future[None]) -> str | None:
    try:
        share.result()
    except (WireError, Unprepared, wait.TimedOut) as lost:
        return str(lost)
    return None


def explore(options: ExploreOptions) -> ExitCode:
    """Open the target, ask it every cell, tell what came of it.

    :raises UserError: When the target cannot be had, or knows no transactions.
    """
    with open_exploration(options) as exploration:
        return _explored(exploration)


@contextmanager
def open_exploration(options: ExploreOptions) -> Iterator[Exploration]:
    """A target that is up, and the run folder, for the length of the block.

    :raises UserError: When the target cannot be had, or knows no transactions.
    """
    folder = RunFolder.create(options.run.folder, _described(options))
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


def _explored(exploration: Exploration) -> ExitCode:
    options, folder = exploration.options, exploration.folder
    profile = exploration.profile()
    found = Findings(folder=folder.path, explanations=read_explanations(EXPLAINED, profile))
    numbered = exploration.cells(profile)
    options.run.progress(f"{len(numbered)} cells, by the profile {profile}")
    started = time.monotonic()
    why_lost = exploration.explore(numbered, profile, found)
    seconds = time.monotonic() - started
    whole = options.limit is None and exploration.cluster.owned and why_lost is None
    stale = found.stale() if whole else ()
    told = [*summary(found, len(numbered), seconds, exploration.asked_again, len(exploration.late))]
    told += [f"no longer true, take it out of {EXPLAINED.name}: {each.reason}" for each in stale]
    folder.add_to_run({"profile": asdict(profile), "seconds": round(seconds, 1), "summary": list(told)})
    folder.seal()
    sys.stdout.write("\n".join([*told, f"all of it: {folder.path}"]) + "\n")
    if why_lost is not None:
        exploration.lost(found.compared, why_lost)
    return ExitCode.BROKEN if stale or found.unexplained() or not found.compared else ExitCode.KEPT


def _described(options: ExploreOptions) -> Mapping[str, Json]:
    return {
        "kind": "explore",
        "target": options.run.target,
        "seed": options.run.seed.value,
        "limit": options.limit,
        "command": options.command(),
    }
