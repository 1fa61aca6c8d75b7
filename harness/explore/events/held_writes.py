"""Writes about which their leaders ask the coordinators, while the questions, or the answers, are held or lost.

A leader has one question to a broker under way at a time, and puts those that come meanwhile into the next one
(``AddPartitionsToTxnManager``). So a question about nobody's write is held first on each link, until all writes of a
batch have come; then the next question, about all of them, is what waits or is lost. A broker works on one request of a
connection at a time, so each of these writes has a connection of its own.
"""

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from harness.base import wait
from harness.explore.asker import ANSWER_SECONDS, Outgoing
from harness.explore.cell_identities import NOBODYS
from harness.explore.cell_run import CellRun, answer_text, exchange
from harness.explore.events.held_links import HELD_SECONDS, HeldLinks, HeldRequests
from harness.explore.explored_cluster import ExploredCluster, PartitionPool
from harness.explore.looks.listed_ends import by_leader
from harness.explore.real_requests import answer_of, real_request
from harness.faults.frame_rule import Action
from harness.model.events.write_events import WriteEvent, WriteLost, WritesOverlap, WriteWaits, writes_of
from harness.model.model_requests import ProduceAsked
from harness.wire.api_request import ApiResult
from harness.wire.records.record_batch import NewBatch
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_client import PendingResponse, WireClient
from harness.wire.wire_errors import WireError

QUESTION = "AddPartitionsToTxn"
NOBODY_ASKED = "leaders ask coordinators nothing about writes"
NO_LINK = "its leader and its coordinator are one broker"
NO_OVERLAP = "its leader did not have both of its writes at once"
NOT_ASKED = "its leader's question was not among those that waited"


@dataclass(frozen=True, slots=True)
class _Waiting:
    run: CellRun
    asked: ProduceAsked
    out: Outgoing
    pending: PendingResponse[ApiResult]


@dataclass(slots=True, kw_only=True)
class HeldWrites:
    """Those of one batch."""

    cluster: ExploredCluster
    links: HeldLinks
    connect: Callable[[str], WireClient]
    _clients: list[WireClient] = field(default_factory=list)
    _waiting: list[_Waiting] = field(default_factory=list)
    _held: HeldRequests | None = None

    @property
    def overdue(self) -> bool:
        """Whether a question may have been let go unasked."""
        return self._held is not None and self._held.overdue

    def hold(self, runs: Sequence[CellRun], pool: PartitionPool) -> None:
        """Send the writes of each cell; one whose question does not come to its link is missed.

        Returns when what waits does so, and else when all writes are answered.
        """
        ways = {run.number: self._way(run, pool) for run in runs}
        linked = [run for run in runs if ways[run.number] in self.links.between]
        _miss([run for run in runs if ways[run.number] not in self.links.between], NO_LINK)
        if linked:
            self._hold_all(linked, {ways[run.number] for run in linked}, pool)

    def _hold_all(self, runs: Sequence[CellRun], ways: Collection[tuple[int, int]], pool: PartitionPool) -> None:
        event, first = _event(runs[0]), self.links.hold(QUESTION, "hold")
        for way in sorted(ways):
            self._send_nobodys(way, writes_of(event)[0].version, pool)
        if {*ways} - {*first.await_held(ways)}:
            first.let_go()
            _miss(runs, NOBODY_ASKED)
            return
        for index in range(len(writes_of(event))):
            for run in runs:
                self._send(run, writes_of(_event(run))[index], pool)
            self._pass_behind(pool)
        if isinstance(event, WritesOverlap):
            self._await_overlap(runs)
        action = _action(event)
        self._held = None if action is None else self.links.hold(QUESTION, action)
        first.let_go()
        if self._held is not None:
            self._held.await_held(ways)
            self._miss_others(runs, self._held.ids())
        if not isinstance(event, WriteWaits):
            self.let_go()

    def _await_overlap(self, runs: Sequence[CellRun]) -> None:
        """A write that gives way to another one of its id is answered before anybody is asked."""

        def answered() -> set[int]:
            return {each.run.number for each in self._waiting if each.pending.done()}

        wanted = {run.number for run in runs}
        wait.elapsed_ms_until(lambda: answered() >= wanted, timeout_seconds=HELD_SECONDS, interval_seconds=0.005)
        _miss([run for run in runs if run.number not in answered()], NO_OVERLAP)

    def let_go(self) -> None:
        """The questions, or the answers; then each write is answered."""
        if self._held is not None:
            self._held.let_go()
        for each in self._waiting:
            self._take(each)
        self._close()

    def _miss_others(self, runs: Sequence[CellRun], asked_about: Collection[str]) -> None:
        for run in runs:
            if run.who.ids[writes_of(_event(run))[0].id] not in asked_about:
                run.missed = NOT_ASKED

    def _take(self, each: _Waiting) -> None:
        try:
            result = each.pending.wait(ANSWER_SECONDS).result
        except WireError as error:
            each.run.sent.append(exchange(each.asked, each.out, f"no answer: {error}"))
            return
        answer = answer_of(each.asked, result, each.run.who)
        each.run.to_writes.append(answer)
        each.run.sent.append(exchange(each.asked, each.out, answer_text(answer)))

    def _way(self, run: CellRun, pool: PartitionPool) -> tuple[int, int]:
        asked = writes_of(_event(run))[0]
        return pool.leaders[run.who.places[asked.partition]], self.cluster.coordinator(run.who.ids[asked.id])

    def _send(self, run: CellRun, asked: ProduceAsked, pool: PartitionPool) -> None:
        real = real_request(asked, run.who, pool.topic_id)
        leader = pool.leaders[run.who.places[asked.partition]]
        out = Outgoing(lane=len(self._clients), node=leader, request=real.request, version=real.version)
        run.began = time.monotonic()
        self._waiting.append(_Waiting(run, asked, out, self._sent(out)))

    def _send_nobodys(self, way: tuple[int, int], version: int, pool: PartitionPool) -> None:
        """A write that its coordinator refuses, whatever its version: nobody has that id."""
        leader, coordinator = way
        place = next(each for each, led_by in pool.leaders.items() if led_by == leader)
        name = self.cluster.id_coordinated_by(coordinator, "nobodys")
        batch = NewBatch(values=("",), producer_id=NOBODYS - 1, producer_epoch=0, base_sequence=0)
        placed = PartitionBatch(topic=place[0], partition=place[1], batch=batch, topic_id=pool.topic_id)
        request = Produce(transactional_id=name, batches=(placed,))
        self._sent(Outgoing(lane=0, node=leader, request=request, version=version))

    def _sent(self, out: Outgoing) -> PendingResponse[ApiResult]:
        self._clients.append(self.connect("observer"))
        return self._clients[-1].send(out.node, out.request, out.version)

    def _pass_behind(self, pool: PartitionPool) -> None:
        """A question to each leader that came after the writes, and is answered: it has read them."""
        for leader in sorted(set(pool.leaders.values())):
            place: TopicPartition = by_leader(pool.leaders)[leader][0]
            self.cluster.observer.call(leader, ListOffsets(topic=place[0], partition=place[1]))

    def _close(self) -> None:
        for client in self._clients:
            with closing(client):
                pass
        self._clients.clear()
        self._waiting.clear()


def _miss(runs: Sequence[CellRun], why: str) -> None:
    for run in runs:
        run.missed = why


def _event(run: CellRun) -> WriteEvent:
    event = run.next_event or run.waiting
    assert isinstance(event, WriteEvent), "a cell without a write that its leader asks about"
    return event


def _action(event: WriteEvent) -> Action | None:
    """What is done to the question, or to the answer."""
    match event:
        case WriteWaits():
            return "hold-response" if event.confirmed else "hold"
        case WriteLost():
            return "drop-response" if event.confirmed else "drop-request"
        case WritesOverlap():
            return None
