"""A pipelined producer whose operations are in the history: a row a record, each with its own beginning and end.

Rows of a transaction's records are written before its end is asked for, so that no record is ever committed whose row
could be lost with a killed process; that it began is written with the first of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.base.clock import RunClock
from harness.clients.client import CallResult
from harness.clients.operation_rows import OperationRows
from harness.clients.pipelined.outgoing_batches import OutgoingBatch
from harness.clients.pipelined.pipelined_producer import PipelinedProducer
from harness.clients.wire.protocol_client import NOTHING_SENT
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import Operation, Value, Verb
from harness.wire.topic_partitions import TopicPartition


@dataclass(slots=True, kw_only=True)
class RecordedProducer:
    """One actor.

    :param txn: The open transaction's number; None outside one.
    :param written: How many of its records were tried.
    """

    producer: PipelinedProducer
    rows: OperationRows
    clock: RunClock
    history_journal: HistoryJournal
    txn: int | None = None
    size: int = 0
    written: int = 0
    _begun: list[Operation] = field(default_factory=list)

    async def init(self) -> bool:
        number, started = self.history_journal.next_operation(), self.clock.now()
        result = await self.producer.init()
        timeout_ms = self.producer.habits.timeout_ms
        row = self.rows.row("init", number, started, self.clock.now(), result, None, timeout_ms=timeout_ms)
        self.history_journal.write(row)
        return result.done

    def begin(self, txn: int, size: int) -> None:
        """Begin transaction number ``txn``, which means to write ``size`` records."""
        self.txn, self.size, self.written = txn, size, 0
        number, now = self.history_journal.next_operation(), self.clock.now()
        self._begun = [self.rows.row("begin", number, now, now, self.producer.begin(), txn, size=size)]

    async def write(self, records: Sequence[tuple[TopicPartition, str]]) -> bool:
        """Write the transaction's next records, given by partition and payload; whether all are there for certain."""
        assert self.txn is not None, "written outside a transaction"
        values = [
            Value(txn=self.txn, ordinal=ordinal, size=self.size, payload=payload)
            for ordinal, (_, payload) in enumerate(records, start=self.written)
        ]
        self.written += len(records)
        numbers = [self.history_journal.next_operation() for _ in values]
        named = [(partition, str(value)) for (partition, _), value in zip(records, values, strict=True)]
        batches = await self.producer.write(named)
        begun, self._begun = self._begun, []
        self.history_journal.write(
            *begun, *(row for batch in batches for row in self._produced(batch, numbers, values))
        )
        return all(batch.result is not None and batch.result.done for batch in batches)

    async def end(self, *, commit: bool) -> CallResult:
        """Commit or abort; the transaction is over for this producer, whatever the result."""
        number, started = self.history_journal.next_operation(), self.clock.now()
        result = await self.producer.end(commit=commit)
        verb: Verb = "commit" if commit else "abort"
        self._write(self.rows.row(verb, number, started, self.clock.now(), result, self.txn))
        self.txn = None
        return result

    def close(self) -> None:
        """Nothing more is asked of it; an open transaction stays as it is."""
        number, now = self.history_journal.next_operation(), self.clock.now()
        self._write(self.rows.row("close", number, now, now, NOTHING_SENT, self.txn))

    def _write(self, *rows: Operation) -> None:
        begun, self._begun = self._begun, []
        self.history_journal.write(*begun, *rows)

    def _produced(self, batch: OutgoingBatch, numbers: Sequence[int], values: Sequence[Value]) -> Iterator[Operation]:
        """A row a record; ``numbers`` and ``values`` are of all records that were written with the batch."""
        assert batch.result is not None, "every batch has its result"
        now, result = self.clock.now(), self.producer.identified(batch.result)
        started, ended = (now if at is None else at for at in (batch.started, batch.ended))
        (topic, partition), offset = batch.partition, batch.offset
        for place, at in enumerate(batch.places):
            yield self.rows.row(
                "produce",
                numbers[at],
                started,
                ended,
                result,
                self.txn,
                topic=topic,
                partition=partition,
                offset=None if offset is None or offset < 0 else offset + place,
                ordinal=values[at].ordinal,
                size=values[at].size,
                payload=values[at].payload,
            )
