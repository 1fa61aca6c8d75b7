"""A transactional producer that writes as applications do: batches, several partitions a request, requests in flight.

What is refused and what is in doubt is decided by the same rules and table as for the client that waits
(:mod:`harness.clients.wire.protocol_client`); the order of what is sent by :mod:`.outgoing_batches`.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from harness.base.json_value import Json
from harness.clients.client import CallResult, refused_locally
from harness.clients.pipelined.outgoing_batches import OutgoingBatch, OutgoingBatches, in_batches
from harness.clients.pipelined.pipelined_retry import PipelinedRetry
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.protocol_client import NOTHING_SENT, REPLICAS_SHARE
from harness.clients.wire.retry import LONGEST_PAUSE_SECONDS
from harness.evidence.history.operation import Outcome
from harness.kafka.producer_state import ProducerState
from harness.kafka.retriable import STALE_ROUTE
from harness.wire.records.record_batch import Compression
from harness.wire.requests.log.produce import ProduceResult
from harness.wire.topic_partitions import TopicPartition, partition_name
from harness.wire.wire_errors import UnreadableAnswer, WireError

SHORTEST_SECONDS = 0.001
"""That is waited at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerHabits:
    """How a producer writes; names in Kafka's words where they have one.

    :param in_flight: ``max.in.flight.requests.per.connection``.
    :param batch_records: Records of one batch at most.
    :param partitions_a_request: Batches of one Produce at most.
    :param request_ms: What one operation may take, retries included.
    """

    timeout_ms: int = 6_000
    request_ms: int = 3_000
    in_flight: int = 5
    batch_records: int = 16
    partitions_a_request: int = 16
    compression: Compression = "none"

    @property
    def try_seconds(self) -> float:
        """How long one try may go unanswered: there is time for a second one."""
        return self.request_ms / 2000

    @property
    def replicas_ms(self) -> int:
        """How long the broker itself may wait for replicas."""
        return max(1, round(self.try_seconds * REPLICAS_SHARE * 1000))


@dataclass(slots=True)
class ProducerTally:
    """What producers of one event loop have sent."""

    produce_requests: int = 0
    most_in_flight: int = 0
    most_partitions: int = 0

    def note(self, in_flight: int, partitions: int) -> None:
        """A Produce is sent: the producer's Produce requests to that broker now, and the partitions of this one."""
        self.produce_requests += 1
        self.most_in_flight = max(self.most_in_flight, in_flight)
        self.most_partitions = max(self.most_partitions, partitions)

    def facts(self) -> dict[str, Json]:
        """For ``run.json``."""
        return asdict(self)


@dataclass(slots=True, kw_only=True)
class PipelinedProducer:
    """One producer of one transactional id; belongs to one task of an event loop.

    :param tally: Counts its requests, with others'.
    """

    state: ProducerState
    retry: PipelinedRetry
    habits: ProducerHabits
    now: Callable[[], float]
    tally: ProducerTally = field(default_factory=ProducerTally)
    _in_flight: dict[int, int] = field(default_factory=dict)

    async def init(self) -> CallResult:
        """InitProducerId; may be repeated after an unanswered try, since each only raises the epoch."""
        result, answer = await self.retry.ask(
            self.state.init_producer_id(self.habits.timeout_ms),
            self._coordinator,
            self._deadline(),
            timeout_seconds=self.habits.try_seconds,
        )
        if answer is not None and result.done:
            self.state.become(answer.producer_id, answer.producer_epoch)
        return self.identified(result)

    def begin(self) -> CallResult:
        """Begin a transaction; nothing is sent."""
        self.state.begin()
        return self.identified(NOTHING_SENT)

    async def write(self, records: Sequence[tuple[TopicPartition, str]]) -> Sequence[OutgoingBatch]:
        """Write them all; every batch has its result, those that were never sent too."""
        outgoing, every = in_batches(records, self.state.next_sequences, self.habits.batch_records)
        began = self.now()
        added = await self._add([*dict.fromkeys(partition for partition, _ in records)])
        if added.tries:  # then a record's operation begins with that of adding its partition
            for batch in every:
                batch.started = began
        if added.done:
            await self._send_all(outgoing)
            self.state.next_sequences.update(outgoing.sequences)
        for batch in outgoing.left():
            batch.result = _never_sent(added)
        self._count_adding(every, added)
        return every

    async def end(self, *, commit: bool) -> CallResult:
        """EndTxn, where anything may have been added; an empty transaction is not known to its coordinator."""
        if not self.state.started:
            return self.identified(NOTHING_SENT)
        result, answer = await self.retry.ask(
            self.state.end_txn(commit=commit),
            self._coordinator,
            self._deadline(),
            timeout_seconds=self.habits.try_seconds,
            repeatable=self.state.protocol.bumps_epoch,
        )
        if answer is not None and result.done:
            self.state.ended(answer.producer_id, answer.producer_epoch)
        self.state.begin()
        return self.identified(result)

    def identified(self, result: CallResult) -> CallResult:
        """The result with the identity as it is known now."""
        producer_id, epoch = (self.state.producer_id, self.state.epoch) if self.state.producer_id >= 0 else (None, None)
        return replace(result, producer_id=producer_id, epoch=epoch)

    async def _add(self, partitions: Sequence[TopicPartition]) -> CallResult:
        """All partitions in one request, as Kafka's ``TransactionManager`` adds those that are pending."""
        new = tuple(each for each in partitions if self.state.must_add(each))
        if not new:
            return NOTHING_SENT
        result, _ = await self.retry.ask(
            self.state.add_partitions(*new),
            self._coordinator,
            self._deadline(),
            timeout_seconds=self.habits.try_seconds,
        )
        if result.done:
            self.state.added.update(new)
        self.state.started = self.state.started or result.outcome is not Outcome.REFUSED
        return result

    def _count_adding(self, every: Sequence[OutgoingBatch], added: CallResult) -> None:
        """The tries of adding belong to the first record of each partition."""
        counted: set[TopicPartition] = set()
        for batch in every:
            if batch.partition not in counted and batch.result is not None:
                batch.result = replace(batch.result, tries=batch.result.tries + added.tries)
            counted.add(batch.partition)

    async def _send_all(self, outgoing: OutgoingBatches) -> None:
        """Until each batch is decided, or none has been for as long as an operation may take."""
        sending: set[asyncio.Task[None]] = set()
        deadline = self._deadline()
        while not outgoing.over and not deadline.over:
            while more := await self._send_ready(outgoing):
                sending |= more
            undecided = outgoing.undecided
            sending = await _some(sending, outgoing, deadline)
            if outgoing.undecided < undecided:
                deadline = self._deadline()
        if not outgoing.over:
            outgoing.give_up()
        for task in sending:
            task.cancel()
        await asyncio.gather(*sending, return_exceptions=True)

    async def _send_ready(self, outgoing: OutgoingBatches) -> "set[asyncio.Task[None]]":
        """A Produce to each leader that has room for one more, with the batches whose turn it is."""
        started: set[asyncio.Task[None]] = set()
        await self._find_leaders(outgoing)
        for node, batches in self._by_leader(outgoing).items():
            if self._in_flight.get(node, 0) < self.habits.in_flight:
                for batch in (some := batches[: self.habits.partitions_a_request]):
                    outgoing.take(batch)
                    batch.started = self.now() if batch.started is None else batch.started
                self._in_flight[node] = self._in_flight.get(node, 0) + 1
                self.tally.note(self._in_flight[node], len(some))
                self.state.started = True
                started.add(asyncio.create_task(self._produce(node, outgoing, some)))
        return started

    async def _find_leaders(self, outgoing: OutgoingBatches) -> None:
        """Of all whose turn it is; those that have none now are asked about again later."""
        for batch in list(outgoing.ready(time.monotonic())):
            if await self.retry.routes.leader(batch.partition) is None:
                self.retry.routes.forget("Produce")
                batch.wait_longer()

    def _by_leader(self, outgoing: OutgoingBatches) -> Mapping[int, list[OutgoingBatch]]:
        """Nothing is awaited here: an answer may change whose turn it is."""
        by_leader: dict[int, list[OutgoingBatch]] = {}
        for batch in outgoing.ready(time.monotonic()):
            node = self.retry.routes.known_leader(batch.partition)
            if node is not None:
                by_leader.setdefault(node, []).append(batch)
        return by_leader

    async def _produce(self, node: int, outgoing: OutgoingBatches, batches: Sequence[OutgoingBatch]) -> None:
        request = self.state.produce_at(
            {batch.partition: (batch.sequence or 0, batch.values) for batch in batches},
            timeout_ms=self.habits.replicas_ms,
            compression=self.habits.compression,
        )
        try:
            answer = await self.retry.connections.ask(node, request, self.habits.try_seconds)
        except WireError as error:
            self.retry.routes.forget("Produce")
            for batch in batches:
                outgoing.unanswered(batch, error)
        else:
            self._take(answer, outgoing, batches)
        finally:
            self._in_flight[node] -= 1
        for batch in batches:
            if batch.result is not None and batch.ended is None:
                batch.ended = self.now()

    def _take(self, answer: ProduceResult, outgoing: OutgoingBatches, batches: Sequence[OutgoingBatch]) -> None:
        for batch in batches:
            told = answer.partitions.get(partition_name(*batch.partition))
            if told is None:
                outgoing.unanswered(batch, UnreadableAnswer(f"Produce was answered without {batch.partition}"))
                continue
            if told["error"] in STALE_ROUTE:
                self.retry.routes.forget("Produce")
            outgoing.answered(batch, told["error"], told["base_offset"])

    def _deadline(self) -> Deadline:
        return Deadline.of_ms(self.habits.request_ms)

    async def _coordinator(self) -> int | None:
        return await self.retry.routes.coordinator(self.state.transactional_id)


async def _some(
    sending: "set[asyncio.Task[None]]", outgoing: OutgoingBatches, deadline: Deadline
) -> "set[asyncio.Task[None]]":
    """Wait until an answer has come, or something may be sent again; what is still under way."""
    now, timeout = time.monotonic(), deadline.left
    moment = outgoing.next_moment(now)
    if moment is not None:
        timeout = min(timeout, max(SHORTEST_SECONDS, moment - now))
    if not sending:
        await asyncio.sleep(min(timeout, LONGEST_PAUSE_SECONDS))
        return set()
    done, left = await asyncio.wait(sending, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()
    return left


def _never_sent(added: CallResult) -> CallResult:
    """Of a batch that was not sent: its partitions could not be added, or another batch had failed before."""
    why = "another record of its transaction had failed" if added.done else added.reason or "it was not answered"
    refused = refused_locally(f"the record was never sent: {why}")
    return replace(refused, error=None if added.done else added.error)
