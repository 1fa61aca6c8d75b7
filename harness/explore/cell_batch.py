"""Some hundred cells side by side: each step of their paths, what is asked, one look, and what came of each."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from harness.base import wait
from harness.explore.asker import Outgoing, require_any
from harness.explore.cell_results import CellOutcome, CellResult, CellSeen, Difference, not_reached
from harness.explore.cell_run import CellRun, answer_text, exchange
from harness.explore.comparison import held_wrongly, stable_offset
from harness.explore.events.cluster_events import SHORT_TIMEOUT_MS, ClusterEvents
from harness.explore.explored_cluster import ExploredCluster, PartitionPool
from harness.explore.findings import FreshResult
from harness.explore.looks.pool_look import PoolLook, described_ids, look_at
from harness.explore.looks.stale_route import StaleRoute
from harness.explore.real_requests import RealRequest, answer_of, real_request
from harness.kafka.retriable import STALE_ROUTE
from harness.model.events.model_event import TimeoutPasses
from harness.model.grid import GridCell
from harness.model.leader_model import knows_abortable
from harness.model.model_requests import DescribedBy, ModelRequest, PartitionWrite
from harness.model.protocol_profile import ProtocolProfile
from harness.wire.api_request import ApiResult
from harness.wire.requests.transactions.describe_transactions import DescribedTransaction
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import WireError

TRIES = 20
"""How often a request is sent, while it is answered with an error that passes."""
AGAIN_SECONDS = 0.02
OF_A_NEW_INSTANCE = 2
"""The version of InitProducerId that carries no identity; every release of Kafka with transactions takes it."""
ENDED_SECONDS = 10.0
"""Within which a transaction that ends has its markers."""
LED_SECONDS = 30.0
"""Within which what has moved is led again."""
NO_SUCH_BROKER = "the target has no broker that stands so to the partition, or to the id"
Asked: TypeAlias = tuple[CellRun, ModelRequest]


@dataclass(slots=True, kw_only=True)
class CellBatch:
    """Used by one thread. All its cells have the same events on their paths.

    :param events: How they are brought about; None where there is none.
    :param asked_again: How often an answer passed that the model does not expect, by its error.
    """

    cluster: ExploredCluster
    pool: PartitionPool
    runs: Sequence[CellRun]
    events: ClusterEvents | None = None
    asked_again: Counter[str] = field(default_factory=Counter)
    late: list[str] = field(default_factory=list)

    def explore(self) -> list[FreshResult]:
        """Every cell's result.

        :raises WireError, Unprepared: When the cluster is lost.
        """
        while self._ask() or self._let_happen():
            self._await_markers()
            if self.events is not None:
                self.events.await_waiting(self.runs, self.pool)
            self._note_starts()
        self._let_go()
        look = self._look()
        self._note_late()
        seen = [run.seen(look) for run in self.runs]
        results = [self._result(run, each) for run, each in zip(self.runs, seen, strict=True)]
        self._abort_what_is_open(look)
        told = _with_stable_offsets(results, self.runs, look)
        return [FreshResult(one, saw, run.beginning) for one, saw, run in zip(told, seen, self.runs, strict=True)]

    def _look(self) -> PoolLook:
        """At everything; again, where a coordinator or leader has moved by itself, as on a machine with much to do."""
        ids = [each for run in self.runs for each in run.who.ids.values()]
        ends = time.monotonic() + LED_SECONDS
        while True:
            groups = {run.who.group: run.group(self.pool.groups) for run in self.runs if run.commits_offsets}
            try:
                return look_at(self.cluster, self.pool, ids, groups)
            except StaleRoute:
                if time.monotonic() > ends:
                    raise
            wait.pause(AGAIN_SECONDS)
            self._look_up_coordinators()

    def _look_up_coordinators(self) -> None:
        self.cluster.look_up_coordinators()
        self.pool = self.cluster.as_led_now(self.pool)

    def _ask(self) -> bool:
        """The next request of each cell that has one before its next event; whether there was any."""
        following = [(run, asked) for run in self.runs if (asked := run.next_request) is not None]
        left = [each for each in following if self._can_be_asked(*each)]
        for run, _ in left:
            run.began = time.monotonic()
        self._until_answered([each for each in left if not isinstance(each[1], PartitionWrite)])
        for old in (True, False):
            with self.cluster.verifying:
                self._until_answered([each for each in left if _verified_as(each[1], old=old)])
        self._note_late()
        return bool(left)

    def _can_be_asked(self, run: CellRun, asked: ModelRequest) -> bool:
        if self._node(real_request(asked, run.who, self.pool.topic_id)) is None:
            run.missed = NO_SUCH_BROKER
        return run.missed is None

    def _note_starts(self) -> None:
        shown = described_ids(self.cluster, [run.who.ids[name] for run in self.runs for name in run.open_ids])
        for run in self.runs:
            run.note_starts(shown)

    def _let_happen(self) -> bool:
        """The next event of the cells, which is the same of all that are still on their way; whether there is one."""
        runs = [run for run in self.runs if run.next_event is not None]
        if not runs:
            return False
        assert self.events is not None, "events on a cluster that knows none"
        self.pool = self.events.bring_about(runs, self.pool)
        return True

    def _let_go(self) -> None:
        """What the events of the cells hold until now."""
        if self.events is None:
            return
        self.events.let_go(self.runs)
        for run in self.runs:
            run.let_go()
        self._await_markers()
        self._note_late()

    def _note_late(self) -> None:
        for run in self.runs:
            run.note_late()

    def _until_answered(self, left: Sequence[Asked]) -> None:
        for tries in range(1, TRIES + 1):
            if not left:
                return
            if tries > 1:
                wait.pause(AGAIN_SECONDS)
                self._look_up_coordinators()
            left = self._once(left, tries)

    def _once(self, asked: Sequence[Asked], tries: int) -> Sequence[Asked]:
        """Those that must be asked again."""
        real = [real_request(request, run.who, self.pool.topic_id) for run, request in asked]
        sent = [self._outgoing(run, each) for (run, _), each in zip(asked, real, strict=True)]
        answers = self.cluster.asker.ask(sent)
        require_any(answers)
        triples = zip(asked, sent, answers, strict=True)
        return [one for one, out, result in triples if not self._taken(*one, out, result, tries)]

    def _taken(
        self, run: CellRun, asked: ModelRequest, out: Outgoing, result: ApiResult | WireError, tries: int
    ) -> bool:
        if isinstance(result, WireError):
            run.sent.append(exchange(asked, out, f"no answer: {result}", tries))
            run.stray("an answer", str(result))
            return True
        answer = answer_of(asked, result, run.who)
        if tries < TRIES and run.passing(asked, answer):
            self.asked_again[answer.error] += 1
            run.note_passed(answer)
            return False
        run.sent.append(exchange(asked, out, answer_text(answer), tries))
        run.take(asked, answer)
        return True

    def _outgoing(self, run: CellRun, real: RealRequest) -> Outgoing:
        node = self._node(real)
        assert node is not None, "a request that nobody can be asked"
        return Outgoing(lane=run.number, node=node, request=real.request, version=real.version)

    def _node(self, real: RealRequest) -> int | None:
        if not isinstance(real.at, str):
            return self.pool.broker(real.at, real.by, self.cluster.brokers)
        coordinator = self.cluster.coordinator(real.at)
        if real.by is DescribedBy.LEADER:
            return coordinator
        return next((each for each in self.cluster.brokers if each != coordinator), None)

    def _await_markers(self) -> None:
        """Until no id is in a Prepare state that the model says is left; later ones are told."""
        waiting = {run.who.ids[name] for run in self.runs for name in run.ending}
        if not waiting:
            return

        def none_left() -> bool:
            shown = described_ids(self.cluster, sorted(waiting))
            if any(each["error"] in STALE_ROUTE for each in shown.values()):
                self._look_up_coordinators()
            waiting.difference_update(name for name, each in shown.items() if _has_ended(each))
            return not waiting

        if wait.elapsed_ms_until(none_left, timeout_seconds=ENDED_SECONDS) is None:
            self.late += waiting
        for run in self.runs:
            run.ending = frozenset()

    def _result(self, run: CellRun, seen: CellSeen | None) -> CellResult:
        if run.missed is not None:
            return not_reached(run.number, run.cell, run.missed)
        strayed = () if run.strayed is None else (run.strayed,)
        differences = strayed or (() if seen is None else run.compared(seen))
        if differences and not strayed and seen is not None and (why := run.doubt(seen.answer)):
            return not_reached(run.number, run.cell, why)
        return CellResult(
            cell=run.number,
            state=run.cell.state,
            request=run.cell.request,
            outcome=CellOutcome.DIFFERS if differences else CellOutcome.AGREES,
            steps=len(run.cell.path),
            differences=differences,
            exchanges=tuple(run.sent) if differences else (),
        )

    def _abort_what_is_open(self, seen: PoolLook) -> None:
        """A new instance aborts what the one before it has open (``handleInitProducerId``)."""
        ongoing = [name for name, shown in seen.ids.items() if shown["state"] == "Ongoing"]
        requests = [
            Outgoing(
                lane=lane, node=self.cluster.coordinator(name), request=InitProducerId(transactional_id=name), version=2
            )
            for lane, name in enumerate(ongoing)
        ]
        require_any(self.cluster.asker.ask(requests))


def begun(
    cells: Sequence[tuple[int, GridCell]],
    cluster: ExploredCluster,
    pool: PartitionPool,
    profile: ProtocolProfile,
    events: ClusterEvents | None = None,
) -> CellBatch:
    """A batch of numbered cells, with fresh names."""
    who = cluster.identities([number for number, _ in cells], pool)
    named = zip(cells, who, strict=True)
    runs = [CellRun(number=number, cell=cell, who=each, profile=profile) for (number, cell), each in named]
    for run in runs:
        if any(isinstance(one, TimeoutPasses) for one in run.cell.path):
            run.who.timeout_ms = SHORT_TIMEOUT_MS
    cluster.belongings.groups += [run.who.group for run in runs if run.commits_offsets]
    return CellBatch(cluster=cluster, pool=pool, runs=runs, events=events)


def _verified_as(asked: ModelRequest, *, old: bool) -> bool:
    """Whether it is a write of a client that does not know TRANSACTION_ABORTABLE, or of one that does.

    The two are never verified at the same time: a leader keeps one kind of client for all the transactions that it asks
    a coordinator about in one request, that of the first (``AddPartitionsToTxnManager.addTxnData``), and answers all of
    them by it.
    """
    return isinstance(asked, PartitionWrite) and knows_abortable(asked) != old


def _has_ended(shown: DescribedTransaction) -> bool:
    return shown["error"] not in STALE_ROUTE and not shown["state"].startswith("Prepare")


def _with_stable_offsets(results: Sequence[CellResult], runs: Sequence[CellRun], seen: PoolLook) -> list[CellResult]:
    """A last stable offset that contradicts its producers is told of the cell whose entry lies there."""
    wrong = dict(wrong_stable_offsets(runs, seen))
    return [_with(each, wrong.get(each.cell)) for each in results]


def _with(result: CellResult, wrong: Difference | None) -> CellResult:
    if wrong is None:
        return result
    return replace(result, outcome=CellOutcome.DIFFERS, differences=(*result.differences, wrong))


def wrong_stable_offsets(runs: Sequence[CellRun], seen: PoolLook) -> Iterator[tuple[int, Difference]]:
    """Each partition whose last stable offset contradicts what its leader shows of producers, and the cell at fault.

    Likewise where more is shown to consumers of committed records than the last stable offset allows.
    """
    owners = {producer_id: run for run in runs for producer_id in run.who.producer_ids}
    unsettled = {place for run in runs if run.missed is not None for place in run.who.places.values()}
    for place, stable in seen.stable.items():
        if place in unsettled:
            continue  # a transaction may have ended while it was looked at
        if (leaked := seen.leaked.get(place)) is not None:
            owner = _owner(seen, place, leaked, owners) or runs[0]
            part = f"read_committed of {_named(owner, place)}"
            yield owner.number, Difference(part=part, expected=f"nothing from {stable} on", seen=f"a batch at {leaked}")
            continue
        opened = _open(seen, place)
        at = held_wrongly(seen.ends[place], stable, opened)
        if at is None:
            continue
        owner = _owner(seen, place, at, owners) or runs[0]
        expected = stable_offset(seen.ends[place], opened)
        part = f"LSO of {_named(owner, place)}"
        yield owner.number, Difference(part=part, expected=str(expected), seen=str(stable))


def _named(run: CellRun, place: TopicPartition) -> str:
    return next((name for name, each in run.who.places.items() if each == place), str(place))


def _open(seen: PoolLook, place: TopicPartition) -> Mapping[int, int]:
    shown = seen.producers[place].values()
    return {
        each["producer_id"]: each["current_txn_start_offset"] for each in shown if each["current_txn_start_offset"] >= 0
    }


def _owner(seen: PoolLook, place: TopicPartition, at: int, owners: Mapping[int, CellRun]) -> CellRun | None:
    found = (
        producer_id
        for producer_id, batches in seen.batches[place].items()
        if any(batch.base_offset <= at <= batch.last_offset for batch in batches)
    )
    return owners.get(next(found, -1))
