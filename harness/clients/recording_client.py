"""The recorder of operations: wraps any client, times each call, and writes it to the run's history.

Nothing else writes operations. An actor's calls cannot overlap, since it owns its client; a value is made here, with
its transaction, ordinal and size, so that no workload can forget one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.base.clock import RunClock
from harness.clients.client import AskingClient, CallResult, Client
from harness.clients.operation_rows import OperationRows
from harness.evidence.history.asked_request import AskedRequest
from harness.evidence.history.history_journal import HistoryJournal
from harness.evidence.history.operation import Operation, Read, Value, Verb
from harness.evidence.json_codec import to_json


@dataclass(slots=True, kw_only=True)
class RecordingClient:
    """A client whose every call is in the history: the port's verbs, with the transaction's bookkeeping done here.

    :param timeout_ms: ``transaction.timeout.ms``; None where the client's own default is not known.
    :param txn: The open transaction's number; None outside one.
    :param size: How many records the transaction means to write.
    :param written: How many of them were tried.
    :param identity: Producer id and epoch as the client knew them last; -1 where it knew none.
    """

    client: Client
    actor: str
    transactional_id: str | None
    clock: RunClock
    history_journal: HistoryJournal
    group: str | None = None
    timeout_ms: int | None = None
    txn: int | None = None
    size: int = 0
    written: int = 0
    identity: tuple[int, int] = (-1, -1)
    _records_read: int = 0

    def init(self) -> CallResult:
        return self._recorded("init", self.client.init, timeout_ms=self.timeout_ms)

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
        return self._recorded(
            "send_offsets",
            lambda: self.client.send_offsets(topic, partition, offset),
            topic=topic,
            partition=partition,
            offset=offset,
            group=self.group,
        )

    def commit(self) -> CallResult:
        """Commit; the transaction is over for this client, whatever the result."""
        result = self._recorded("commit", self.client.commit)
        self.txn = None
        return result

    def abort(self) -> CallResult:
        """Abort; the transaction is over for this client, whatever the result."""
        result = self._recorded("abort", self.client.abort)
        self.txn = None
        return result

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        return self._recorded("subscribe", lambda: self.client.subscribe(topics), group=self.group)

    def poll(self, within_ms: int) -> CallResult:
        """Read; every record delivered is in the history before the workload sees it."""
        number, started = self.history_journal.next_operation(), self.clock.now()
        result = self.client.poll(within_ms)
        ended = self.clock.now()
        reads = [
            Read(reader=self.actor, topic=topic, partition=index, offset=offset, value=value, position=place, at=ended)
            for place, (topic, index, offset, value) in enumerate(result.records, start=self._records_read)
        ]
        self._records_read += len(reads)
        columns = {"count": len(reads), "group": self.group}
        self.history_journal.write(*reads, self._operation("poll", number, started, ended, result, columns))
        return result

    @property
    def can_ask(self) -> bool:
        return isinstance(self.client, AskingClient)

    def ask(self, asked: AskedRequest) -> CallResult:
        """One request as it is; only where :attr:`can_ask`."""
        client = self.client
        assert isinstance(client, AskingClient), f"{client.kind} sends nothing but what it wants to"
        return self._recorded("ask", lambda: client.ask(asked), request=to_json(asked))

    def close(self) -> CallResult:
        """Close; may be called twice."""
        return self._recorded("close", self.client.close)

    def _recorded(self, verb: Verb, call: Callable[[], CallResult], **columns: Any) -> CallResult:
        number, started = self.history_journal.next_operation(), self.clock.now()
        result = call()
        self.history_journal.write(self._operation(verb, number, started, self.clock.now(), result, columns))
        if verb != "ask" and result.producer_id is not None and result.epoch is not None:
            self.identity = result.producer_id, result.epoch
        return result

    def _operation(
        self, verb: Verb, number: int, started: float, ended: float, result: CallResult, columns: dict[str, Any]
    ) -> Operation:
        """The result as the history keeps it.

        :param columns: What the call was made with.
        """
        rows = OperationRows(
            actor=self.actor,
            client=self.client.kind,
            protocol=self.client.protocol,
            transactional_id=self.transactional_id,
        )
        return rows.row(verb, number, started, ended, result, self.txn, **columns)
