"""The transactional half of a wire client: what a client keeps of its producer, and the five verbs that write.

Kept as Kafka's ``TransactionManager`` keeps it: producer id and epoch, the next sequence of each partition, what has
been added to the open transaction. Once a write is unsure its sequence is used up: a different record with the same
number would be taken for the repetition of the lost one, and acknowledged without being written.
"""

from dataclasses import dataclass, field, replace

from harness.clients.client import CallResult, ClientOptions
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.retry import Retry, RetryResult
from harness.clients.wire.routes import Where
from harness.clients.wire.transaction_protocol import TransactionProtocol
from harness.evidence.operation import Outcome, Value
from harness.wire.api_request import ApiResult
from harness.wire.records.record_batch import NewBatch
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.requests.transactions.add_offsets_to_txn import AddOffsetsToTxn
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn
from harness.wire.requests.transactions.end_txn import EndTxn, EndTxnResult
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.requests.transactions.txn_offset_commit import TxnOffsetCommit

ACKS_WITHIN = 0.8
"""Part of a try's patience that the broker itself may wait for replicas, so that it can still say what came of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """Who commits offsets: the group, and the member and generation that its coordinator checks (KIP-447)."""

    group: str
    member: str = ""
    generation: int = -1


@dataclass(slots=True, kw_only=True)
class WireProducer:
    """One producer of one transactional id; see the module's docstring."""

    options: ClientOptions
    protocol: TransactionProtocol
    attempts: Retry
    producer_id: int = -1
    epoch: int = -1
    _sequences: dict[tuple[str, int], int] = field(default_factory=dict)
    _added: set[str | tuple[str, int]] = field(default_factory=set)
    _started: bool = False
    _lost: bool = False

    def init(self) -> CallResult:
        """InitProducerId; may be repeated after silence, since each only raises the epoch."""
        verb = InitProducerId(transactional_id=self._id, timeout_ms=self.options.timeout_ms)
        tried = self.attempts.ask(verb, self._coordinator, self._bound(), patience=self._patience, repeatable=True)
        if tried.result is not None:
            self._become(tried.result.producer_id, tried.result.producer_epoch)
        return self._told(tried.answer())

    def begin(self) -> CallResult:
        """Local."""
        if self.producer_id < 0:
            return self._local_refusal("no producer id: init was not done")
        if self._lost:
            return self._local_refusal("how the last transaction ended is unsure: init comes first")
        self._added.clear()
        self._started = False
        return self._told(CallResult(outcome=Outcome.DONE, tries=0))

    def produce(self, topic: str, partition: int, value: Value) -> CallResult:
        """One record, its partition added first where the protocol asks for that."""
        bound = self._bound()
        adding = None if self.protocol.bumps else self._add((topic, partition), self._adding(topic, partition), bound)
        if adding is not None and not adding.done:
            return self._told(adding.never_sent("the record"))
        self._started = True
        where = self._leader(topic, partition)
        verb = self._batch(topic, partition, value)
        tried = self.attempts.ask(verb, where, bound, patience=self._patience, repeatable=True)
        if tried.outcome is not Outcome.REFUSED:
            self._sequences[topic, partition] = verb.batches[0].batch.base_sequence + 1
        offset = tried.result.base_offset if tried.result else None
        return replace(self._told(tried.answer(earlier=adding.tries if adding else 0)), offset=offset)

    def send_offsets(self, topic: str, partition: int, offset: int, membership: Membership) -> CallResult:
        """One input partition's next offset, the group's offsets partition added first where the protocol asks."""
        bound = self._bound()
        adding = None if self.protocol.bumps else self._add(membership.group, self._adding_group(membership), bound)
        if adding is not None and not adding.done:
            return self._told(adding.never_sent("the offset"))
        self._started = True
        verb = TxnOffsetCommit(
            transactional_id=self._id,
            group=membership.group,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            offsets={(topic, partition): offset},
            generation=membership.generation,
            member=membership.member,
        )
        # Transactions V1 cannot tell a late repetition from the next transaction's offsets.
        tried = self.attempts.ask(
            verb,
            lambda left: self.attempts.routes.coordinator_of_group(membership.group, left),
            bound,
            patience=self._patience,
            repeatable=self.protocol.bumps,
        )
        return replace(self._told(tried.answer(earlier=adding.tries if adding else 0)), offset=offset)

    def end(self, *, commit: bool) -> CallResult:
        """EndTxn, where anything has been added; an empty transaction is nothing to a coordinator."""
        if not self._started and not self._added:
            return self._told(CallResult(outcome=Outcome.DONE, tries=0))
        verb = EndTxn(
            transactional_id=self._id, producer_id=self.producer_id, producer_epoch=self.epoch, committed=commit
        )
        # Transactions V1 cannot tell a late repetition from the end of the next transaction (KIP-890, motivation).
        tried = self.attempts.ask(
            verb, self._coordinator, self._bound(), patience=self._patience, repeatable=self.protocol.bumps
        )
        self._ended(tried)
        return self._told(tried.answer())

    def _ended(self, tried: RetryResult[EndTxnResult]) -> None:
        self._added.clear()
        self._started = False
        self._lost = tried.outcome is Outcome.UNSURE
        if tried.result is not None and self.protocol.bumps:
            self._become(tried.result.producer_id, tried.result.producer_epoch)

    def _become(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != (self.producer_id, self.epoch):
            self._sequences.clear()
        self._added.clear()
        self._started = self._lost = False
        self.producer_id, self.epoch = producer_id, epoch

    def _add(
        self, what: str | tuple[str, int], verb: AddPartitionsToTxn | AddOffsetsToTxn, bound: Deadline
    ) -> RetryResult[ApiResult] | None:
        if what in self._added:
            return None
        tried = self.attempts.ask(verb, self._coordinator, bound, patience=self._patience, repeatable=True)
        if tried.done:
            self._added.add(what)
        self._started = self._started or tried.outcome is Outcome.UNSURE
        return tried

    def _adding(self, topic: str, partition: int) -> AddPartitionsToTxn:
        return AddPartitionsToTxn(
            transactional_id=self._id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            partitions=((topic, partition),),
        )

    def _adding_group(self, membership: Membership) -> AddOffsetsToTxn:
        return AddOffsetsToTxn(
            transactional_id=self._id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            group=membership.group,
        )

    def _batch(self, topic: str, partition: int, value: Value) -> Produce:
        batch = NewBatch(
            values=(str(value),),
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self._sequences.get((topic, partition), 0),
        )
        return Produce(
            transactional_id=self._id,
            batches=(PartitionBatch(topic=topic, partition=partition, batch=batch),),
            timeout_ms=max(1, round(self._patience * ACKS_WITHIN * 1000)),
        )

    @property
    def _id(self) -> str:
        assert self.options.transactional_id is not None, "a producer without a transactional id"
        return self.options.transactional_id

    @property
    def _patience(self) -> float:
        """Seconds that one try may go unanswered: there is time for a second one."""
        return self.options.request_ms / 2000

    def _bound(self) -> Deadline:
        return Deadline.of_ms(self.options.request_ms)

    def _coordinator(self, bound: Deadline) -> int | None:
        return self.attempts.routes.coordinator_of_transaction(self._id, bound)

    def _leader(self, topic: str, partition: int) -> Where:
        return lambda bound: self.attempts.routes.leader(topic, partition, bound)

    def _told(self, answer: CallResult) -> CallResult:
        known = self.producer_id >= 0
        return replace(answer, producer_id=self.producer_id if known else None, epoch=self.epoch if known else None)

    def _local_refusal(self, reason: str) -> CallResult:
        return self._told(CallResult(outcome=Outcome.REFUSED, error=None, reason=reason, tries=0))
