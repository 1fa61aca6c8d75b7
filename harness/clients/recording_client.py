"""The recorder of operations: wraps any client, times each call, and writes it to the run's one chronicle.

Nothing else writes operations. An actor's calls cannot overlap, since it owns its client; a value is made here, with
its transaction, ordinal and size, so that no workload can forget one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.base.clock import RunClock
from harness.clients.client import CallResult, Client, Polled
from harness.evidence.history_writer import HistoryWriter
from harness.evidence.operation import Operation, Read, Value, Verb


@dataclass(slots=True, kw_only=True)
class RecordingClient:
    """A client whose every call is in the history. The port's verbs, with the transaction's bookkeeping done here."""

    client: Client
    actor: str
    transactional_id: str | None
    clock: RunClock
    history_writer: HistoryWriter
    group: str | None = None
    txn: int | None = None
    size: int = 0
    written: int = 0
    _read: int = field(default=0)

    def init(self) -> CallResult:
        """See the port."""
        return self._recorded("init", self.client.init)

    def begin(self, txn: int, size: int) -> CallResult:
        """Begin transaction number ``txn``, which means to write ``size`` records."""
        self.txn, self.size, self.written = txn, size, 0
        return self._recorded("begin", self.client.begin, size=size)

    def produce(self, topic: str, partition: int, payload: str = "") -> CallResult:
        """Write the transaction's next record."""
        assert self.txn is not None, "produce outside a transaction"
        value = Value(txn=self.txn, ordinal=self.written, size=self.size, payload=payload)
        self.written += 1
        return self._recorded(
            "produce",
            lambda: self.client.produce(topic, partition, value),
            topic=topic,
            partition=partition,
            ordinal=value.ordinal,
            size=value.size,
            payload=payload,
        )

    def send_offsets(self, topic: str, partition: int, offset: int) -> CallResult:
        """Put the next offset of an input partition into the transaction."""
        place = {"topic": topic, "partition": partition, "offset": offset, "group": self.group}
        return self._recorded("send_offsets", lambda: self.client.send_offsets(topic, partition, offset), **place)

    def commit(self) -> CallResult:
        """Commit; the transaction is over for this client, whatever came."""
        return self._ended("commit")

    def abort(self) -> CallResult:
        """Abort; the transaction is over for this client, whatever came."""
        return self._ended("abort")

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        """Join the group."""
        return self._recorded("subscribe", lambda: self.client.subscribe(topics), group=self.group)

    def poll(self, within_ms: int) -> Polled:
        """Read; every record delivered is in the history before the workload sees it."""
        number, started = self.history_writer.next_operation(), self.clock.now()
        polled = self.client.poll(within_ms)
        at = self.clock.now()
        reads = [
            Read(reader=self.actor, topic=topic, partition=partition, offset=offset, value=value, position=place, at=at)
            for place, (topic, partition, offset, value) in enumerate(polled.records, start=self._read)
        ]
        self._read += len(reads)
        asked = self._operation("poll", number, started, at, polled.answer, {"count": len(reads), "group": self.group})
        self.history_writer.write(*reads, asked)
        return polled

    def close(self) -> CallResult:
        """Close; may be called twice."""
        return self._recorded("close", self.client.close)

    def _ended(self, verb: Verb) -> CallResult:
        answer = self._recorded(verb, self.client.commit if verb == "commit" else self.client.abort)
        self.txn = None
        return answer

    def _recorded(self, verb: Verb, call: Any, **more: Any) -> CallResult:
        number, started = self.history_writer.next_operation(), self.clock.now()
        answer: CallResult = call()
        self.history_writer.write(self._operation(verb, number, started, self.clock.now(), answer, more))
        return answer

    def _operation(
        self, verb: Verb, number: int, started: float, ended: float, answer: CallResult, more: dict[str, Any]
    ) -> Operation:
        return Operation(
            number=number,
            actor=self.actor,
            client=self.client.kind,
            verb=verb,
            started=started,
            ended=ended,
            outcome=answer.outcome,
            error=answer.error,
            reason=answer.reason,
            transactional_id=self.transactional_id,
            txn=self.txn,
            producer_id=answer.producer_id,
            epoch=answer.epoch,
            tries=answer.tries,
            **{"offset": answer.offset, **more},
        )
