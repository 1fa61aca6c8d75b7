"""A client that speaks Kafka's protocol itself: the producing verbs here, the consuming ones by its consumer.

Once a write is unsure its sequence is used up: a different record with the same number would be taken for the
repetition of the lost one, and acknowledged without being written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from harness.clients.client import CallResult, ClientOptions, refused_locally
from harness.clients.wire.asked_requests import told_by, wire_request
from harness.clients.wire.connections import Connections
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.retry import Retry
from harness.clients.wire.wire_consumer import WireConsumer
from harness.evidence.history.asked_request import AskedRequest
from harness.evidence.history.operation import Outcome, Value
from harness.kafka.producer_state import ProducerState
from harness.kafka.transaction_protocol import TransactionProtocol
from harness.wire.requests.transactions.add_offsets_to_txn import AddOffsetsToTxn
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn
from harness.wire.topic_partitions import TopicPartition

REPLICAS_SHARE = 0.8
"""Part of a try's time that the broker itself may wait for replicas, so that its answer still comes in time."""

NOTHING_SENT = CallResult(outcome=Outcome.DONE, tries=0)
"""Of what the protocol does without a request."""


@dataclass(slots=True, kw_only=True)
class ProtocolClient:
    """See the port. Owned by one thread; nothing is sent before the first verb that asks a broker."""

    options: ClientOptions
    state: ProducerState
    retry: Retry
    consumer: WireConsumer

    @classmethod
    def of(cls, options: ClientOptions, protocol: TransactionProtocol) -> "ProtocolClient":
        """Producer and consumer share the connections; a group's member has its own."""
        return cls.over(Connections.of(options, protocol), Connections.of(options, protocol), options, protocol)

    @classmethod
    def over(
        cls, shared: Connections, members: Connections, options: ClientOptions, protocol: TransactionProtocol
    ) -> "ProtocolClient":
        state = ProducerState(transactional_id=options.transactional_id or "", protocol=protocol)
        retry = Retry(shared)
        consumer = WireConsumer(options=options, retry=retry, member_retry=Retry(members))
        return cls(options=options, state=state, retry=retry, consumer=consumer)

    @property
    def kind(self) -> str:
        return f"wire-{self.protocol}"

    @property
    def protocol(self) -> Literal["v1", "v2"]:
        return self.state.protocol.name

    def init(self) -> CallResult:
        """See the port; may be repeated after an unanswered try, since each only raises the epoch."""
        assert self.options.transactional_id, "a producer without a transactional id"
        result, answer = self.retry.ask(
            self.state.init_producer_id(self.options.timeout_ms),
            self._coordinator,
            self._deadline(),
            timeout_seconds=self._try_seconds,
        )
        if answer is not None and result.done:
            self.state.become(answer.producer_id, answer.producer_epoch)
        return self._identified(result)

    def begin(self) -> CallResult:
        if self.state.producer_id < 0:
            return refused_locally("no producer id: init was not done")
        if self.state.end_unknown:
            return self._identified(refused_locally("how the last transaction ended is unsure: init comes first"))
        self.state.begin()
        return self._identified(NOTHING_SENT)

    def produce(self, topic: str, partition: int, value: Value) -> CallResult:
        """See the port; the partition is added first where the protocol asks for that."""
        deadline = self._deadline()
        added = self._added((topic, partition), deadline)
        if not added.done:
            return self._identified(_never_sent("the record", added))
        self.state.started = True
        request = self.state.produce(
            {(topic, partition): (str(value),)}, timeout_ms=max(1, round(self._try_seconds * REPLICAS_SHARE * 1000))
        )
        result, answer = self.retry.ask(
            request,
            lambda left: self.retry.routes.leader(topic, partition, left),
            deadline,
            timeout_seconds=self._try_seconds,
        )
        if result.outcome is not Outcome.REFUSED:
            self.state.use_sequences(request)
        offset = answer.base_offset if answer is not None and not answer.error else None
        return self._identified(result, earlier=added.tries, offset=offset)

    def send_offsets(self, topic: str, partition: int, offset: int) -> CallResult:
        """See the port; the group's offsets partition is added first where the protocol asks for that."""
        deadline, member = self._deadline(), self.consumer.metadata
        added = self._added(member.group, deadline)
        if not added.done:
            return self._identified(_never_sent("the offset", added))
        self.state.started = True
        # Transactions V1 cannot distinguish a late repetition from the next transaction's offsets.
        result, _ = self.retry.ask(
            self.state.txn_offset_commit(
                member.group, {(topic, partition): offset}, generation=member.generation, member=member.member
            ),
            lambda left: self.retry.routes.coordinator_of_group(member.group, left),
            deadline,
            timeout_seconds=self._try_seconds,
            repeatable=self.state.protocol.bumps_epoch,
        )
        return self._identified(result, earlier=added.tries, offset=offset)

    def commit(self) -> CallResult:
        return self._end(commit=True)

    def abort(self) -> CallResult:
        return self._end(commit=False)

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        return self.consumer.subscribe(topics)

    def poll(self, within_ms: int) -> CallResult:
        return self.consumer.poll(within_ms)

    def ask(self, asked: AskedRequest) -> CallResult:
        """See :class:`harness.clients.client.AskingClient`."""
        name, routes = asked.transactional_id or self.state.transactional_id, self.retry.routes

        def find_node(left: Deadline) -> int | None:
            if asked.api == "Produce":
                return routes.leader(asked.topic, asked.partition, left)
            if asked.elsewhere:
                return routes.another_than_coordinator(name, left)
            return routes.coordinator_of_transaction(name, left)

        request = wire_request(asked, name, self.options.timeout_ms)
        result, answer = self.retry.ask_once(request, find_node, self._deadline(), timeout_seconds=self._try_seconds)
        return replace(result, **told_by(answer)) if answer is not None and result.done else result

    def close(self) -> CallResult:
        self.consumer.close()
        self.retry.connections.close()
        return NOTHING_SENT

    def _end(self, *, commit: bool) -> CallResult:
        """EndTxn, where anything may have been added; an empty transaction is not known to its coordinator."""
        if not self.state.started:
            return self._identified(NOTHING_SENT)
        # With Transactions V1 a late repetition could end the next transaction (KIP-890, motivation).
        result, answer = self.retry.ask(
            self.state.end_txn(commit=commit),
            self._coordinator,
            self._deadline(),
            timeout_seconds=self._try_seconds,
            repeatable=self.state.protocol.bumps_epoch,
        )
        if answer is not None and result.done:
            self.state.ended(answer.producer_id, answer.producer_epoch)
        self.state.begin()
        self.state.end_unknown = result.outcome is Outcome.UNSURE
        return self._identified(result)

    def _added(self, what: TopicPartition | str, deadline: Deadline) -> CallResult:
        """A partition, or a group by name, is in the transaction; nothing is sent where nothing has to be added."""
        if not self.state.must_add(what):
            return NOTHING_SENT
        request: AddPartitionsToTxn | AddOffsetsToTxn = (
            self.state.add_offsets(what) if isinstance(what, str) else self.state.add_partitions(what)
        )
        result, _ = self.retry.ask(request, self._coordinator, deadline, timeout_seconds=self._try_seconds)
        if result.done:
            self.state.added.add(what)
        self.state.started = self.state.started or result.outcome is not Outcome.REFUSED
        return result

    @property
    def _try_seconds(self) -> float:
        """How long one try may go unanswered: there is time for a second one."""
        return self.options.request_ms / 2000

    def _deadline(self) -> Deadline:
        return Deadline.of_ms(self.options.request_ms)

    def _coordinator(self, deadline: Deadline) -> int | None:
        return self.retry.routes.coordinator_of_transaction(self.state.transactional_id, deadline)

    def _identified(self, result: CallResult, *, earlier: int = 0, offset: int | None = None) -> CallResult:
        """The result with the identity as it is known now, and with the tries of an ``earlier`` request counted."""
        producer_id, epoch = (self.state.producer_id, self.state.epoch) if self.state.producer_id >= 0 else (None, None)
        return replace(result, producer_id=producer_id, epoch=epoch, offset=offset, tries=result.tries + earlier)


def _never_sent(what: str, added: CallResult) -> CallResult:
    """An operation whose own request was not sent, since adding its partition was not done."""
    reason = f"{what} was never sent: {added.reason or 'it was not answered'}"
    return replace(added, outcome=Outcome.REFUSED, reason=reason)
