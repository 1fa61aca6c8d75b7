"""What the brokers know, as values: coordinators of transactional ids, leaders of producers, and the logs.

They are structs of msgspec, which are changed, compared and hashed in C: a search does little else.

Numbers are small and symbolic: producer ids count from 0 in the order in which they are given out, offsets from 0 in
each partition.
"""

from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from harness.model.frozen_map import FrozenMap

NONE = -1
"""No producer id, epoch or sequence (``RecordBatch.NO_PRODUCER_ID``, ``NO_PRODUCER_EPOCH``, ``NO_SEQUENCE``)."""
REMEMBERED_BATCHES = 5
"""Of a producer on a partition, to know repetitions (``ProducerStateEntry.NUM_BATCHES_TO_RETAIN``)."""
LAST_EPOCH = 32767
"""``Short.MAX_VALUE``: never a client's."""
GROUP = "G"
"""The consumer group, and the partition of ``__consumer_offsets`` that keeps it."""


class CoordinatorState(StrEnum):
    """Of a transactional id, named as DescribeTransactions shows it (``TransactionState`` of Kafka)."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"

    @property
    def preparing(self) -> bool:
        return self in (CoordinatorState.PREPARE_COMMIT, CoordinatorState.PREPARE_ABORT)

    @property
    def complete(self) -> bool:
        return self in (CoordinatorState.COMPLETE_COMMIT, CoordinatorState.COMPLETE_ABORT)


class Coordinated(Struct, frozen=True):
    """What the coordinator knows of a transactional id (``TransactionMetadata``).

    :param last_epoch: Before the current one, so that a repeated request is known (KIP-360).
    :param previous_id: The producer id before the current one, until its next transition; :param next_id: the one after
        it, while ending.
    :param partitions: Of the open transaction, or those whose markers are still to be written.
    :param ending: Of a transaction that is ending, all its partitions, as the log has them.
    :param new_protocol: Whether the client that moved it last spoke transactions of version 2 (KIP-890).
    :param timeout_ms: Of its transactions; NONE for the one that paths ask for.
    """

    state: CoordinatorState
    producer_id: int
    epoch: int
    last_epoch: int = NONE
    previous_id: int = NONE
    next_id: int = NONE
    partitions: frozenset[str] = frozenset()
    ending: frozenset[str] = frozenset()
    new_protocol: bool = False
    timeout_ms: int = NONE

    @property
    def exhausted(self) -> bool:
        """Whether there is no further epoch for a client (``TransactionMetadata.isEpochExhausted``)."""
        return self.epoch >= LAST_EPOCH - 1


class KnownProducer(Struct, frozen=True):
    """What a partition's leader knows of a producer (``ProducerStateEntry``).

    :param batches: Sequence and offset of the last ones of this epoch, the newest last; a batch is one record here.
    :param open_since: The offset at which its open transaction began.
    :param coordinator_epoch: Of the last marker.
    """

    epoch: int = NONE
    batches: tuple[tuple[int, int], ...] = ()
    open_since: int | None = None
    coordinator_epoch: int = NONE

    @property
    def last_sequence(self) -> int:
        return self.batches[-1][0] if self.batches else NONE

    def next_sequence(self, epoch: int) -> int:
        """Of the next write in an epoch, which begins with 0."""
        return self.last_sequence + 1 if epoch == self.epoch else 0

    def in_epoch(self, epoch: int) -> "KnownProducer":
        """In another epoch the batches of the old one are forgotten (``maybeUpdateProducerEpoch``)."""
        return self if epoch == self.epoch else replace(self, epoch=epoch, batches=())

    def with_batch(self, epoch: int, sequence: int, offset: int) -> "KnownProducer":
        """After a transactional batch (``ProducerAppendInfo.appendDataBatch``)."""
        known = self.in_epoch(epoch)
        batches = (*known.batches, (sequence, offset))[-REMEMBERED_BATCHES:]
        return replace(known, batches=batches, open_since=offset if known.open_since is None else known.open_since)


class Verification(Struct, frozen=True):
    """That the coordinator is or was asked about a producer's transaction (``VerificationStateEntry``).

    :param number: Which one it is: an answer counts only for the one that it was asked for (``VerificationGuard``).
    """

    lowest_sequence: int
    epoch: int
    new_protocol: bool
    number: int


class LogEntry(Struct, frozen=True):
    """A data batch of one record, or a marker.

    :param marker: None of a data batch; of a marker, whether it commits.
    :param value: The record's, which names the transaction that its writer meant it for.
    :param offset: That a group's record commits.
    """

    producer_id: int
    epoch: int
    sequence: int = NONE
    marker: bool | None = None
    value: str = ""
    offset: int = NONE


class PartitionLog(Struct, frozen=True):
    """A partition as its leader has it; the offset of an entry is its index."""

    entries: tuple[LogEntry, ...] = ()
    producers: FrozenMap[int, KnownProducer] = field(default_factory=FrozenMap)
    verifications: FrozenMap[int, Verification] = field(default_factory=FrozenMap)

    def known(self, producer_id: int) -> KnownProducer:
        """What is known of a producer, also where that is nothing."""
        return self.producers.get(producer_id, KnownProducer())

    @property
    def last_stable_offset(self) -> int:
        """The first offset of the oldest open transaction, else the end (``UnifiedLog.lastStableOffset``)."""
        open_since = [each.open_since for each in self.producers.values() if each.open_since is not None]
        return min(open_since, default=len(self.entries))

    def appended(self, entry: LogEntry, known: KnownProducer) -> "PartitionLog":
        """With one entry more; any append of a producer ends its verification (``ProducerStateManager.update``)."""
        producer_id = entry.producer_id
        return PartitionLog(
            entries=(*self.entries, entry),
            producers=self.producers.put(producer_id, known),
            verifications=self.verifications.without(producer_id),
        )


class KeptOffset(Struct, frozen=True):
    """:param at: Where its record lies in the group's log (``OffsetAndMetadata.recordOffset``)."""

    offset: int
    at: int


class GroupOffsets(Struct, frozen=True):
    """What a group's coordinator keeps of one partition (``OffsetMetadataManager``); the group has no members.

    :param exists: Whether the coordinator has made a group for offsets that it was given.
    :param pending: Of transactions that are open, by producer id.
    """

    exists: bool = False
    committed: KeptOffset | None = None
    pending: FrozenMap[int, KeptOffset] = field(default_factory=FrozenMap)


class ModelCluster(Struct, frozen=True):
    """Everything that brokers know.

    :param ids: By transactional id. :param logs: By partition. :param groups: By the partition that keeps the group.
    :param producer_ids: How many were given out. :param verifications: How many were begun.
    :param coordinator_epoch: How often coordinators moved; their markers carry it.
    :param loading: Whether the coordinators are still reading their log.
    """

    ids: FrozenMap[str, Coordinated] = field(default_factory=FrozenMap)
    logs: FrozenMap[str, PartitionLog] = field(default_factory=FrozenMap)
    groups: FrozenMap[str, GroupOffsets] = field(default_factory=FrozenMap)
    producer_ids: int = 0
    verifications: int = 0
    coordinator_epoch: int = 0
    loading: bool = False

    def log(self, partition: str) -> PartitionLog:
        """Of a partition; :raises KeyError: where there is none."""
        return self.logs[partition]

    def with_id(self, name: str, coordinated: Coordinated) -> "ModelCluster":
        """With what the coordinator now knows of a transactional id."""
        return replace(self, ids=self.ids.put(name, coordinated))

    def with_log(self, partition: str, log: PartitionLog) -> "ModelCluster":
        """With what a leader now has."""
        return replace(self, logs=self.logs.put(partition, log))

    def with_group(self, name: str, offsets: GroupOffsets) -> "ModelCluster":
        """With what the group's coordinator now keeps."""
        return replace(self, groups=self.groups.put(name, offsets))


def fresh_cluster(*partitions: str) -> ModelCluster:
    """With empty partitions, before the first producer; there always is a group that may be given offsets."""
    logs = {partition: PartitionLog() for partition in (*partitions, GROUP)}
    return ModelCluster(logs=FrozenMap(logs), groups=FrozenMap({GROUP: GroupOffsets()}))
