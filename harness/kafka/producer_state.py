"""The state of a transactional producer, and the requests that follow from it; nothing is sent here.

Kept as Kafka's ``TransactionManager`` keeps it: producer id and epoch, the next sequence number of each partition, what
was added to the open transaction. A client sends the requests as they are made here. A test that wants a wrong or an
old request replaces fields of it (``dataclasses.replace``), and reports back only what the state should follow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from harness.kafka.transaction_protocol import TransactionProtocol
from harness.wire.records.record_batch import Compression, NewBatch
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.requests.transactions.add_offsets_to_txn import AddOffsetsToTxn
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.requests.transactions.txn_offset_commit import TxnOffsetCommit
from harness.wire.topic_partitions import TopicPartition


@dataclass(slots=True, kw_only=True)
class ProducerState:
    """One producer of one transactional id; -1 are a producer id and an epoch that are not known yet.

    :param started: Whether the open transaction may be known to the cluster, so that it has to be ended.
    :param end_unknown: Whether the last EndTxn may or may not have been done; only InitProducerId is right then.
    :param next_sequences: By partition; 0 where this producer id and epoch have written nothing.
    :param added: The partitions, and the groups by name, that this producer added to the open transaction.
    """

    transactional_id: str
    protocol: TransactionProtocol
    producer_id: int = -1
    epoch: int = -1
    started: bool = False
    end_unknown: bool = False
    next_sequences: dict[TopicPartition, int] = field(default_factory=dict)
    added: set[TopicPartition | str] = field(default_factory=set)

    def become(self, producer_id: int, epoch: int) -> None:
        """Go on with this identity and no open transaction; sequences start at 0 again when it is a new one."""
        if (producer_id, epoch) != (self.producer_id, self.epoch):
            self.next_sequences.clear()
        self.producer_id, self.epoch = producer_id, epoch
        self.end_unknown = False
        self.begin()

    def begin(self) -> None:
        """A transaction begins; nothing of it is known to the cluster."""
        self.added.clear()
        self.started = False

    def ended(self, producer_id: int, epoch: int) -> None:
        """EndTxn was answered without error.

        :param producer_id: What the answer carries, -1 below version 5 (KIP-890, END_TXN_RESPONSE).
        :param epoch: Likewise: the epoch of the next transaction.
        """
        self.begin()
        if producer_id >= 0:
            self.become(producer_id, epoch)

    def must_add(self, what: TopicPartition | str) -> bool:
        """Whether a partition, or a group by name, has to be added before it is written to."""
        return not self.protocol.bumps_epoch and what not in self.added

    def use_sequences(self, request: Produce) -> None:
        """The sequences of these batches are used up: the next batch of each partition follows on them."""
        for part in request.batches:
            self.next_sequences[part.topic, part.partition] = part.batch.base_sequence + len(part.batch.values)

    def init_producer_id(self, timeout_ms: int) -> InitProducerId:
        """A request for a new epoch, without the current identity."""
        return InitProducerId(transactional_id=self.transactional_id, timeout_ms=timeout_ms)

    def add_partitions(self, *partitions: TopicPartition) -> AddPartitionsToTxn:
        """A request to add partitions to the open transaction."""
        return AddPartitionsToTxn(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            partitions=partitions,
        )

    def add_offsets(self, group: str) -> AddOffsetsToTxn:
        """A request to add the offsets partition of a group to the open transaction."""
        return AddOffsetsToTxn(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            group=group,
        )

    def produce(
        self,
        values: Mapping[TopicPartition, Sequence[str]],
        *,
        topic_ids: Mapping[str, UUID | None] | None = None,
        timeout_ms: int = 10_000,
    ) -> Produce:
        """A request with one batch a partition, a record a value; sequences are taken by :meth:`use_sequences`.

        :param topic_ids: Needed from version 13 on.
        :param timeout_ms: How long the broker may wait for its replicas.
        """
        ids = topic_ids or {}
        batches = tuple(
            PartitionBatch(
                topic=topic, partition=partition, batch=self._batch((topic, partition), each), topic_id=ids.get(topic)
            )
            for (topic, partition), each in values.items()
        )
        return Produce(transactional_id=self.transactional_id, batches=batches, timeout_ms=timeout_ms)

    def produce_at(
        self,
        batches: Mapping[TopicPartition, tuple[int, Sequence[str]]],
        *,
        timeout_ms: int,
        compression: Compression = "none",
    ) -> Produce:
        """A request with one batch a partition, each at the sequence that is given with its values."""
        parts = tuple(
            PartitionBatch(
                topic=topic,
                partition=partition,
                batch=NewBatch(
                    values=tuple(values),
                    producer_id=self.producer_id,
                    producer_epoch=self.epoch,
                    base_sequence=sequence,
                    compression=compression,
                ),
            )
            for (topic, partition), (sequence, values) in batches.items()
        )
        return Produce(transactional_id=self.transactional_id, batches=parts, timeout_ms=timeout_ms)

    def txn_offset_commit(
        self, group: str, offsets: Mapping[TopicPartition, int], *, generation: int = -1, member: str = ""
    ) -> TxnOffsetCommit:
        """A request to commit a group's next offsets with the transaction, as a member or as no member (KIP-447)."""
        return TxnOffsetCommit(
            transactional_id=self.transactional_id,
            group=group,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            offsets=offsets,
            generation=generation,
            member=member,
        )

    def end_txn(self, *, commit: bool) -> EndTxn:
        """A request to commit or abort the open transaction."""
        return EndTxn(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=commit,
        )

    def _batch(self, partition: TopicPartition, values: Sequence[str]) -> NewBatch:
        return NewBatch(
            values=tuple(values),
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self.next_sequences.get(partition, 0),
        )
