"""One seat of a crowd: a producer after the other, each retired where :mod:`.actor` would retire its client."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random

from harness.chaos.plan.crowd import ANEW_UNUSED, ANEW_WHILE_OPEN, LARGEST_PAYLOAD, CrowdedWorkload, Habits
from harness.chaos.plan.record_to_write import RecordToWrite
from harness.chaos.play.actor import INIT_PAUSE_SECONDS, TXNS_PER_ROLE
from harness.chaos.play.concurrency_limit import ConcurrencyLimit
from harness.chaos.play.crowd_account import CrowdAccount
from harness.chaos.play.gathering import Gathering
from harness.clients.pipelined.recorded_producer import RecordedProducer
from harness.wire.topic_partitions import TopicPartition

IDLE_SHARE = 0.5
"""Of the times that a seat may be idle, those that it is."""


@dataclass(slots=True, kw_only=True)
class Pace:
    """Lets so many begin in a second, evenly; who comes late is not made up for."""

    per_second: float
    _next: float = 0.0

    async def turn(self) -> None:
        """Wait for one's turn."""
        now = time.monotonic()
        self._next = max(self._next + 1 / self.per_second, now)
        if self._next > now:
            await asyncio.sleep(self._next - now)


@dataclass(slots=True)
class OpenSpan:
    """A transaction from its first acknowledged record on, for the crowd's account."""

    account: CrowdAccount
    ended: bool = False
    _since: float = 0.0
    _records: int = 0
    _partitions: set[TopicPartition] = field(default_factory=set)

    def write(self, records: Sequence[tuple[TopicPartition, str]]) -> None:
        """These were acknowledged."""
        self._since = self._since or time.monotonic()
        self._records += len(records)
        fresh = {partition for partition, _ in records} - self._partitions
        self._partitions |= fresh
        self.account.opened(fresh)
        self.account.written(payload for _, payload in records)

    def close(self) -> None:
        """The client is done with it."""
        if self._partitions:
            seconds = time.monotonic() - self._since
            self.account.closed(self._partitions, records=self._records, seconds=seconds, ended=self.ended)


@dataclass(slots=True, kw_only=True)
class Seat:
    """One transactional id at a time, under one name after the other.

    :param open_producer: A fresh producer under a name, and under an end of the transactional id, which is empty or
        distinguishes an id that came later.
    :param topics: The real name by the workload's name.
    :param over: Set when the time is over.
    :param limit: Of transactions that are under way; a seat waits for its turn before each.
    :param gathering: Where its transactions wait for others before they end.
    """

    name: str
    index: int
    draw: Random
    habits: Habits
    workload: CrowdedWorkload
    open_producer: Callable[[str, str], RecordedProducer]
    topics: dict[str, str]
    pace: Pace
    limit: ConcurrencyLimit
    over: asyncio.Event
    account: CrowdAccount
    gathering: Gathering | None = None
    incarnation: int = 0
    txns: int = 0
    committed: int = 0
    ids: int = 1
    _of_this_id: int = 0

    async def play(self) -> None:
        """Transactions, until the time is over."""
        await self.limit.join()
        while not self.over.is_set():
            await self._play_one()
            await self.limit.let_others()
        self.limit.leave()

    async def _play_one(self) -> None:
        """One producer, from its ``init`` on."""
        producer = self._open()
        if await producer.init():
            self.ids += await self._play(producer)
        else:
            await asyncio.sleep(INIT_PAUSE_SECONDS)
        producer.close()

    async def _play(self, producer: RecordedProducer) -> bool:
        """Until something fails or the id is given up; whether a new id comes next."""
        self._of_this_id = 0
        await self._idle()
        if self.habits.started_anew and self.draw.random() < self.habits.started_anew * ANEW_UNUSED:
            return False
        while not self.over.is_set():
            await self.pace.turn()
            records, commit = self._drawn()
            left_open = self.draw.random() < self.habits.left_open
            anew = self.draw.random() < self.habits.started_anew
            leaves_open = left_open or (anew and self.draw.random() < ANEW_WHILE_OPEN)
            ended = await self._transact(producer, records, commit, leaves_open)
            if anew:
                await self._idle()
            if anew or not ended:
                return left_open
            if self.habits.ids_after is not None and self._of_this_id >= self.habits.ids_after:
                return True
            await self.limit.let_others()
        return False

    async def _transact(
        self, producer: RecordedProducer, records: Sequence[RecordToWrite], commit: bool, left_open: bool
    ) -> bool:
        """One transaction; False when this producer must not go on."""
        self.txns += 1
        self._of_this_id += 1
        producer.begin(self.index * TXNS_PER_ROLE + self.txns, len(records))
        named: list[tuple[TopicPartition, str]] = [
            ((self.topics[record.topic], record.partition), record.payload) for record in records
        ]
        span = OpenSpan(self.account)
        try:
            if not await self._write(producer, named, span):
                await producer.end(commit=False)
                return False
            if left_open:
                return False
            began = time.monotonic()
            ended = await producer.end(commit=commit)
            self.limit.took(time.monotonic() - began, done=ended.done)
            span.ended = ended.done
        finally:
            span.close()
        if commit and ended.done:
            self.committed += 1
            self.account.committed()
        return ended.done

    async def _write(
        self, producer: RecordedProducer, named: Sequence[tuple[TopicPartition, str]], span: "OpenSpan"
    ) -> bool:
        """All records, in two parts where the transaction stays open between; whether all are there for certain."""
        parts = (named[:1], named[1:]) if self.habits.open_seconds and len(named) > 1 else (named,)
        for number, part in enumerate(parts):
            if number:
                await self._pause(self.draw.uniform(0, self.habits.open_seconds))
            if not await producer.write(part):
                return False
            span.write(part)
        if self.gathering is not None:
            await self.gathering.wait(self.draw)
        return True

    def _drawn(self) -> tuple[Sequence[RecordToWrite], bool]:
        habits, draw = self.habits, self.draw
        long = draw.random() < habits.long_share
        size = draw.randint(1, habits.long_records) if long else draw.randint(*habits.records)
        records, commit = self.workload.crowd_transaction(draw, size)
        if habits.one_partition:
            records = [replace(record, partition=records[0].partition) for record in records]
        if any(record.payload for record in records):
            return records, commit
        sizes = [draw.randint(*habits.payload_bytes) for _ in records]
        if draw.random() < habits.large_share:
            sizes[draw.randrange(len(sizes))] = LARGEST_PAYLOAD
        return [
            RecordToWrite(topic=record.topic, partition=record.partition, payload="x" * bytes_)
            for record, bytes_ in zip(records, sizes, strict=True)
        ], commit

    async def _idle(self) -> None:
        if self.habits.idle_seconds and self.draw.random() < IDLE_SHARE:
            await self._pause(self.draw.uniform(0, self.habits.idle_seconds))

    async def _pause(self, seconds: float) -> None:
        """Let time pass, but not beyond the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.over.wait()

    def _open(self) -> RecordedProducer:
        self.incarnation += 1
        name = self.name if self.incarnation == 1 else f"{self.name}.{self.incarnation}"
        return self.open_producer(name, "" if self.ids == 1 else f".{self.ids}")
