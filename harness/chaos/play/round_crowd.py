"""Plays a round's crowd: all its seats in one event loop of one thread, over the lanes of clients.

The loop is uvloop's, which takes a quarter less of the harness's CPU for a transaction than asyncio's own.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from threading import Event

import uvloop

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.seed import Seed
from harness.chaos.plan.crowd import GATHERED, TOGETHER, Crowd, CrowdedWorkload, Habits, drawn_habits
from harness.chaos.plan.scenario import LANES
from harness.chaos.play.concurrency_limit import ConcurrencyLimit
from harness.chaos.play.crowd_account import CrowdAccount
from harness.chaos.play.crowd_seat import Pace, Seat
from harness.chaos.play.gathering import Gathering
from harness.clients.operation_rows import OperationRows
from harness.clients.pipelined.pipelined_producer import PipelinedProducer, ProducerHabits, ProducerTally
from harness.clients.pipelined.pipelined_retry import PipelinedRetry
from harness.clients.pipelined.recorded_producer import RecordedProducer
from harness.clients.pipelined.shared_connections import SharedConnections
from harness.clients.pipelined.shared_routes import SharedRoutes
from harness.evidence.history.history_journal import HistoryJournal
from harness.kafka.producer_state import ProducerState
from harness.kafka.transaction_protocol import TransactionProtocol
from harness.machine.open_files import open_files_allowed

MOST_ASKED = 64
OF_LATE_SECONDS = 3.0
"""As :mod:`harness.judge.checks.traffic` counts before a fault."""
LEAST_UNDER_WAY, FIRST_UNDER_WAY = 32, 96
"""Transactions of a crowd at least, so that each of three brokers has some of every kind; and at first."""
FILES_A_SEAT = 6
"""A connection to each of three brokers, which has two ends in the gate."""
OTHER_FILES = 500
"""Of the roles, of links between brokers, and of all else that a process has open."""
FIRST_INDEX = 1_000
"""Of a seat, by which its transactions are numbered: above those of any role."""


@dataclass(slots=True, kw_only=True)
class RoundCrowd:
    """The crowd of one round; :meth:`run` is the work of one thread.

    :param protocols: Given to the seats in turn.
    :param bootstrap: A lane's addresses by node.
    :param id_prefix: What the seats' transactional ids begin with.
    :param topics: The real name by the workload's name.
    :param ids: All transactional ids so far.
    :param tally: Of all producers' requests.
    """

    crowd: Crowd
    workload: CrowdedWorkload
    protocols: Sequence[TransactionProtocol]
    seed: Seed
    bootstrap: Callable[[str], Mapping[int, str]]
    id_prefix: str
    topics: dict[str, str]
    clock: RunClock
    history_journal: HistoryJournal
    stop: Event
    ids: dict[str, None] = field(default_factory=dict)
    habits: list[str] = field(default_factory=list)
    seats: list[Seat] = field(default_factory=list)
    account: CrowdAccount = field(default_factory=CrowdAccount)
    tally: ProducerTally = field(default_factory=ProducerTally)
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _pace: Pace = field(init=False)
    _limit: ConcurrencyLimit = field(init=False)
    _retries: dict[tuple[str, str, str], PipelinedRetry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """As many seats as there may be connections for."""
        seats = max(0, open_files_allowed() - OTHER_FILES) // FILES_A_SEAT
        self.crowd = replace(self.crowd, seats=min(self.crowd.seats, seats))
        self._pace = Pace(per_second=self.crowd.per_second)
        most = self.crowd.seats
        least, first = min(LEAST_UNDER_WAY, most), min(FIRST_UNDER_WAY, most)
        self._limit = ConcurrencyLimit(least=least, most=most, limit=first)

    def run(self) -> None:
        """Until ``stop`` is set and every seat has ended its transaction."""
        uvloop.run(self._run())

    def some_ids(self) -> Sequence[str]:
        """Those that coordinators are asked about one by one: the last ones, since thousands may have come and gone."""
        return [*self.ids][-MOST_ASKED:]

    def minimum(self) -> dict[str, Json]:
        """The traffic without which the round shows nothing."""
        return {"before": self.crowd.before, "during": self.crowd.during}

    @property
    def committed(self) -> int:
        """Transactions whose commit was done."""
        return sum(seat.committed for seat in self.seats)

    def is_at_work(self) -> bool:
        """Whether, of late, so many were committed as each fault must meet."""
        return self.account.has_committed(self.crowd.before, OF_LATE_SECONDS)

    def facts(self) -> dict[str, Json]:
        """Who they were, for ``run.json``."""
        return {
            "seats": sum(1 for seat in self.seats if seat.incarnation),
            "protocols": [each.name for each in self.protocols],
            "habits": {name: self.habits.count(name) for name in sorted(set(self.habits))},
            "most_under_way": self._limit.most_under_way,
            "transactional_ids": len(self.ids),
            "transactions": sum(seat.txns for seat in self.seats),
            "committed": self.committed,
            **self.account.facts(),
            **self.tally.facts(),
        }

    async def _run(self) -> None:
        self.seats += [self._seat(number) for number in range(self.crowd.seats)]
        self.seats += self._gathered()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._await_end())
                for seat in self.seats:
                    tasks.create_task(seat.play())
        finally:
            self.stop.set()  # a seat that failed ends all; what waits for the end must not wait for ever
            for retry in self._retries.values():
                await retry.routes.close()
                await retry.connections.close()

    async def _await_end(self) -> None:
        await asyncio.to_thread(self.stop.wait)
        self._over.set()

    def _seat(self, number: int) -> Seat:
        """A seat with drawn habits, and with connections of its own, as a producer of an application has."""
        draw = self.seed.stream(f"crowd/crowd-{number}")
        habit, habits = drawn_habits(draw)
        self.habits.append(habit)
        return self._made(number, draw, habits, str(number), self._limit)

    def _gathered(self) -> Sequence[Seat]:
        """Those whose transactions are open at once; they wait most of the time, so that some share connections."""
        size = round(self.crowd.seats * self.seed.stream(f"crowd/{TOGETHER}").choice(self.crowd.together))
        gathering, seats = Gathering(size, self._over), list[Seat]()
        limit = ConcurrencyLimit(least=size, most=size, limit=size)
        for number in range(self.crowd.seats, self.crowd.seats + size):
            draw = self.seed.stream(f"crowd/crowd-{number}")
            self.habits.append(TOGETHER)
            group = len(seats) // len(self.protocols) // len(LANES) // self.crowd.together_a_connection
            seats.append(self._made(number, draw, GATHERED, f"{TOGETHER}-{group}", limit))
            seats[-1].gathering = gathering
        return seats

    def _made(self, number: int, draw: Random, habits: Habits, group: str, limit: ConcurrencyLimit) -> Seat:
        name, protocol = f"crowd-{number}", self.protocols[number % len(self.protocols)]
        shared = (protocol.name, LANES[number // len(self.protocols) % len(LANES)], group)

        def open_producer(actor: str, end_of_id: str) -> RecordedProducer:
            return self._opened(actor, f"{self.id_prefix}{name}{end_of_id}", protocol, shared, habits)

        return Seat(
            name=name,
            index=FIRST_INDEX + number,
            draw=draw,
            habits=habits,
            workload=self.workload,
            open_producer=open_producer,
            topics=self.topics,
            pace=self._pace,
            limit=limit,
            over=self._over,
            account=self.account,
        )

    def _opened(
        self,
        actor: str,
        transactional_id: str,
        protocol: TransactionProtocol,
        shared: tuple[str, str, str],
        habits: Habits,
    ) -> RecordedProducer:
        self.ids[transactional_id] = None
        producer = PipelinedProducer(
            state=ProducerState(transactional_id=transactional_id, protocol=protocol),
            retry=self._retry(shared, protocol),
            habits=self._producer_habits(habits),
            now=self.clock.now,
            tally=self.tally,
        )
        rows = OperationRows(
            actor=actor, client=f"wire-{protocol.name}", protocol=protocol.name, transactional_id=transactional_id
        )
        return RecordedProducer(producer=producer, rows=rows, clock=self.clock, history_journal=self.history_journal)

    def _producer_habits(self, habits: Habits) -> ProducerHabits:
        return ProducerHabits(
            timeout_ms=self.crowd.timeout_ms,
            request_ms=self.crowd.request_ms,
            in_flight=habits.in_flight,
            batch_records=habits.batch_records,
            partitions_a_request=habits.partitions_a_request,
            compression=habits.compression,
        )

    def _retry(self, shared: tuple[str, str, str], protocol: TransactionProtocol) -> PipelinedRetry:
        """The connections and routes that some seats share."""
        if shared not in self._retries:
            _, lane, group = shared
            addresses = {node: Address.parse(address) for node, address in self.bootstrap(lane).items()}
            connections = SharedConnections(
                actor=f"crowd-{lane}-{group}", addresses=addresses, highest_versions=protocol.highest_versions
            )
            self._retries[shared] = PipelinedRetry(connections, SharedRoutes(connections))
        return self._retries[shared]
