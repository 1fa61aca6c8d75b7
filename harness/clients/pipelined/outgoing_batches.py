"""The batches of one transaction on their way out: whose turn it is, and what an answer means for those around it.

The rules of Kafka's Java producer (``RecordAccumulator``, ``TransactionManager``, ``Sender``): a batch takes its
sequence when it is first sent and keeps it; one that is to be sent again goes before all that follow on its partition,
and only when nothing before it is undecided; OUT_OF_ORDER_SEQUENCE_NUMBER passes while a batch before it is undecided.
Nothing is sent here.
"""

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.base.kafka_error import KafkaError
from harness.clients.client import CallResult
from harness.clients.wire.retry import LONGEST_PAUSE_SECONDS
from harness.clients.wire.tries import Tries
from harness.evidence.history.operation import Outcome
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import NoAnswer, WireError

API = "Produce"
FIRST_PAUSE_SECONDS = 0.02
"""Between two tries, doubled each time: what the Java producer waits while the markers of its transaction before are
under way (``TransactionManager.ADD_PARTITIONS_RETRY_BACKOFF_MS``). After a shorter one brokers mostly refuse again."""
BATCH_BYTES = 16_000
"""``batch.size`` of the Java producer, without the header: a larger record has a batch of its own."""
RECORD_BYTES = 16
"""That a record takes beside its value, at most."""


@dataclass(slots=True, kw_only=True, eq=False)
class OutgoingBatch:
    """Some records of a transaction for one partition.

    :param places: Which records of the transaction they are; ``size``: about how many bytes they have.
    :param sequence: Of the first one; None before it was first sent.
    :param not_before: When it may be sent again, on the monotonic clock.
    :param started: When it was first sent, and ``ended``: when it was decided; on the run's clock.
    """

    partition: TopicPartition
    places: list[int] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    size: int = 0
    sequence: int | None = None
    in_flight: bool = False
    tries: Tries = field(default_factory=Tries)
    not_before: float = 0.0
    pause: float = FIRST_PAUSE_SECONDS
    started: float | None = None
    ended: float | None = None
    result: CallResult | None = None
    offset: int | None = None

    def add(self, place: int, value: str) -> None:
        """One more record."""
        self.places.append(place)
        self.values.append(value)
        self.size += len(value) + RECORD_BYTES

    def wait_longer(self) -> None:
        """As ``retry.backoff.ms``, doubled each time."""
        self.not_before = time.monotonic() + self.pause
        self.pause = min(2 * self.pause, LONGEST_PAUSE_SECONDS)


@dataclass(slots=True, kw_only=True)
class OutgoingBatches:
    """All batches of a transaction's records.

    :param sequences: The next sequence by partition; taken from here as batches are first sent.
    :param broken: Whether one was refused or is unsure: then none is sent that was not sent before.
    """

    sequences: dict[TopicPartition, int]
    broken: bool = False
    _waiting: dict[TopicPartition, deque[OutgoingBatch]] = field(default_factory=dict)
    _undecided: dict[TopicPartition, list[OutgoingBatch]] = field(default_factory=dict)

    def add(self, batch: OutgoingBatch) -> None:
        """One more, behind those of its partition."""
        self._waiting.setdefault(batch.partition, deque()).append(batch)
        self._undecided.setdefault(batch.partition, [])

    @property
    def over(self) -> bool:
        """Whether nothing is to be sent or waited for any more."""
        if any(self._undecided.values()):
            return False
        return self.broken or not any(self._waiting.values())

    @property
    def undecided(self) -> int:
        """How many have no result yet, sent or not."""
        sent = sum(map(len, self._undecided.values()))
        return sent + sum(1 for _ in self.left())

    def ready(self, now: float) -> Iterator[OutgoingBatch]:
        """Batches whose turn it is, at most one a partition."""
        for partition, waiting in self._waiting.items():
            if waiting and self._may_go(waiting[0], self._undecided[partition], now):
                yield waiting[0]

    def next_moment(self, now: float) -> float | None:
        """When the first of those may go that wait before they are sent again; None where none does."""
        heads = (waiting[0].not_before for waiting in self._waiting.values() if waiting)
        return min((moment for moment in heads if moment > now), default=None)

    def take(self, batch: OutgoingBatch) -> int:
        """It is sent now; its sequence."""
        waiting = self._waiting[batch.partition]
        assert waiting[0] is batch, "another batch of its partition comes first"
        waiting.popleft()
        batch.in_flight = True
        if batch.sequence is None:
            batch.sequence = self.sequences.get(batch.partition, 0)
            self.sequences[batch.partition] = batch.sequence + len(batch.values)
            self._undecided[batch.partition].append(batch)
        return batch.sequence

    def answered(self, batch: OutgoingBatch, error: int, offset: int) -> None:
        """The leader's answer for its partition; of one that was given up it comes too late."""
        if batch.result is not None:
            return
        before = self._undecided[batch.partition][0] is not batch
        passing = before and error == KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
        result = batch.tries.answered(API, error, passing=passing)
        if result is not None and not error:
            batch.offset = offset
        self._go_on(batch, result)

    def unanswered(self, batch: OutgoingBatch, error: WireError) -> None:
        """Whether the leader has it is not known; the repetition is known by its sequence."""
        if batch.result is None:
            self._go_on(batch, batch.tries.unanswered(error))

    def give_up(self) -> None:
        """Nothing is tried any more; what was sent and not decided is unsure, or refused where each try was."""
        self.broken = True
        for undecided in self._undecided.values():
            for batch in tuple(undecided):
                if batch.in_flight:
                    batch.tries.unanswered(NoAnswer("it was not answered in time"))
                self._decide(batch, batch.tries.given_up())

    def left(self) -> Iterator[OutgoingBatch]:
        """Those that were never sent."""
        for waiting in self._waiting.values():
            yield from (batch for batch in waiting if batch.sequence is None)

    def _may_go(self, batch: OutgoingBatch, undecided: Sequence[OutgoingBatch], now: float) -> bool:
        if batch.not_before > now:
            return False
        return not self.broken if batch.sequence is None else undecided[0] is batch

    def _go_on(self, batch: OutgoingBatch, result: CallResult | None) -> None:
        batch.in_flight = False
        if result is not None:
            self._decide(batch, result)
            return
        batch.wait_longer()
        waiting = self._waiting[batch.partition]
        assert batch.sequence is not None, "only what was sent is answered"
        place = sum(1 for each in waiting if each.sequence is not None and each.sequence < batch.sequence)
        waiting.insert(place, batch)

    def _decide(self, batch: OutgoingBatch, result: CallResult) -> None:
        batch.result = result
        self._undecided[batch.partition].remove(batch)
        if batch in self._waiting[batch.partition]:
            self._waiting[batch.partition].remove(batch)
        self.broken = self.broken or result.outcome is not Outcome.DONE


def in_batches(
    values: Sequence[tuple[TopicPartition, str]],
    sequences: Mapping[TopicPartition, int],
    most: int,
    most_bytes: int = BATCH_BYTES,
) -> tuple[OutgoingBatches, Sequence[OutgoingBatch]]:
    """The records in batches of at most ``most``, each partition's in order; and all batches by their first one."""
    outgoing, every, last = OutgoingBatches(sequences=dict(sequences)), [], dict[TopicPartition, OutgoingBatch]()
    for place, (partition, value) in enumerate(values):
        batch = last.get(partition)
        if batch is None or len(batch.places) >= most or batch.size + len(value) + RECORD_BYTES > most_bytes:
            batch = last[partition] = OutgoingBatch(partition=partition)
            outgoing.add(batch)
            every.append(batch)
        batch.add(place, value)
    return outgoing, every
