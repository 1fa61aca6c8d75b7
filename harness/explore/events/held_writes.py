"""Writes about which their leaders ask the coordinators, while the questions, or the answers, lie on the links.

A leader has one question to a broker under way at a time, and puts those that come meanwhile into the next one
(``AddPartitionsToTxnManager``). So a question about nobody's write is held first on each link, until all writes of a
batch have come; then the next question, about all of them, is what waits. A broker works on one request of a connection
at a time, so each of these writes has a connection of its own.
"""

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from harness.explore.asker import ANSWER_SECONDS, Outgoing
from harness.explore.cell_identities import NOBODYS
from harness.explore.cell_run import CellRun, answer_text, exchange
from harness.explore.events.held_links import HeldLinks, HeldRequests
from harness.explore.explored_cluster import ExploredCluster, PartitionPool, by_leader
from harness.explore.real_requests import answer_of, real_request
from harness.model.events.model_event import WriteWaits
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
NOT_ASKED = "its leader's question was not among those that waited"


@dataclass(frozen=True, slots=True)
class _Waiting:
    run: CellRun
    out: Outgoing
    pending: PendingResponse[ApiResult]


@dataclass(slots=True, kw_only=True)
class HeldWrites:
    """Those of one batch."""

    cluster: ExploredCluster
    links: HeldLinks
    connect: Callable[[], WireClient]
    _clients: list[WireClient] = field(default_factory=list)
    _waiting: list[_Waiting] = field(default_factory=list)
    _held: HeldRequests | None = None

    @property
    def overdue(self) -> bool:
        """Whether a question may have been let go unasked."""
        return self._held is not None and self._held.overdue

    def hold(self, runs: Sequence[CellRun], pool: PartitionPool) -> None:
        """Send the write of each cell; one whose question does not come to be held is missed."""
        ways = {run.number: self._way(run, pool) for run in runs}
        linked = [run for run in runs if ways[run.number] in self.links.between]
        _miss([run for run in runs if ways[run.number] not in self.links.between], NO_LINK)
        if linked:
            self._hold_all(linked, {ways[run.number] for run in linked}, pool)

    def _hold_all(self, runs: Sequence[CellRun], ways: Collection[tuple[int, int]], pool: PartitionPool) -> None:
        first = self.links.hold(QUESTION, "hold")
        for way in sorted(ways):
            self._send_nobodys(way, _write(runs[0]), pool)
        if {*ways} - {*first.await_held(ways)}:
            first.let_go()
            _miss(runs, NOBODY_ASKED)
            return
        for run in runs:
            self._send(run, _write(run), pool)
        self._pass_behind(pool)
        self._held = self.links.hold(QUESTION, "hold-response" if _write(runs[0]).confirmed else "hold")
        first.let_go()
        self._held.await_held(ways)
        self._miss_others(runs)

    def let_go(self) -> None:
        """The questions, or the answers; then each write is answered."""
        if self._held is not None:
            self._held.let_go()
        for each in self._waiting:
            self._take(each)
        self._close()

    def _miss_others(self, runs: Sequence[CellRun]) -> None:
        assert self._held is not None
        asked_about = self._held.ids()
        for run in runs:
            if run.who.ids[_write(run).asked.id] not in asked_about:
                run.missed = NOT_ASKED

    def _take(self, each: _Waiting) -> None:
        write = each.run.waiting
        assert write is not None
        try:
            result = each.pending.wait(ANSWER_SECONDS).result
        except WireError as error:
            each.run.sent.append(exchange(write.asked, each.out, f"no answer: {error}"))
            return
        each.run.waited = answer_of(write.asked, result, each.run.who)
        each.run.sent.append(exchange(write.asked, each.out, answer_text(each.run.waited)))

    def _way(self, run: CellRun, pool: PartitionPool) -> tuple[int, int]:
        write = _write(run)
        leader = pool.leaders[run.who.places[write.asked.partition]]
        return leader, self.cluster.coordinator(run.who.ids[write.asked.id])

    def _send(self, run: CellRun, write: WriteWaits, pool: PartitionPool) -> None:
        real = real_request(write.asked, run.who, pool.topic_id)
        leader = pool.leaders[run.who.places[write.asked.partition]]
        out = Outgoing(lane=len(self._clients), node=leader, request=real.request, version=real.version)
        run.began = time.monotonic()
        self._waiting.append(_Waiting(run, out, self._sent(out)))

    def _send_nobodys(self, way: tuple[int, int], like: WriteWaits, pool: PartitionPool) -> None:
        """A write that its coordinator refuses, whatever its version: nobody has that id."""
        leader, coordinator = way
        place = next(each for each, led_by in pool.leaders.items() if led_by == leader)
        name = self.cluster.id_coordinated_by(coordinator, "nobodys")
        batch = NewBatch(values=("",), producer_id=NOBODYS - 1, producer_epoch=0, base_sequence=0)
        placed = PartitionBatch(topic=place[0], partition=place[1], batch=batch, topic_id=pool.topic_id)
        request = Produce(transactional_id=name, batches=(placed,))
        self._sent(Outgoing(lane=0, node=leader, request=request, version=like.asked.version))

    def _sent(self, out: Outgoing) -> PendingResponse[ApiResult]:
        self._clients.append(self.connect())
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


def _write(run: CellRun) -> WriteWaits:
    event = run.next_event or run.waiting
    assert isinstance(event, WriteWaits), "a cell without a write that waits"
    return event
