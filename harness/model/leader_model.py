"""What a partition's leader does with a write and with a marker.

A transaction's first write to a partition is appended only when the coordinator has confirmed it: :func:`received` says
whether it must be asked, :func:`written` what follows its answer. Between the two a marker may come, which ends the
verification (KIP-890 part 1). Sources: KIP-98, KIP-890; ``ReplicaManager.handleProduceAppend``, ``UnifiedLog``,
``ProducerAppendInfo``, ``VerificationStateEntry``, ``AddPartitionsToTxnManager`` of Kafka.
"""

from msgspec.structs import replace

from harness.model.model_requests import (
    AddPartitionsAsked,
    DescribedBy,
    DescribeProducerAsked,
    ModelAnswer,
    PartitionWrite,
    ProduceAsked,
    TxnOffsetCommitAsked,
    WriteMarkerAsked,
)
from harness.model.model_state import NONE, KnownProducer, LogEntry, PartitionLog, Verification
from harness.model.protocol_profile import NEW_PROTOCOL_OFFSETS, NEW_PROTOCOL_PRODUCE, ProtocolProfile

PRODUCE_KNOWS_ABORTABLE, OFFSETS_KNOW_ABORTABLE = 11, 4
"""Of Produce and TxnOffsetCommit: the first whose clients know TRANSACTION_ABORTABLE."""
VERIFIES = 4
"""Of AddPartitionsToTxn: the version by which a leader verifies for an old client."""
ADDS = 5
"""Likewise: by which it adds the partition for a new one."""
UNVERIFIED = NONE
"""The number of no verification (``VerificationGuard.SENTINEL``)."""
OLD_EPOCH = ModelAnswer("INVALID_PRODUCER_EPOCH")
OUT_OF_ORDER = ModelAnswer("OUT_OF_ORDER_SEQUENCE_NUMBER")
NOT_ONGOING = ModelAnswer("INVALID_TXN_STATE")
LOADING = ModelAnswer("COORDINATOR_LOAD_IN_PROGRESS")
TOO_LARGE = ModelAnswer("MESSAGE_TOO_LARGE")
NO_ID = ModelAnswer("TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
"""Of a transactional batch in a request without transactional id (``KafkaApis.handleProduceRequest``)."""


def is_new(asked: PartitionWrite) -> bool:
    """Whether the client speaks the new protocol (``AddPartitionsToTxnManager``)."""
    offsets = isinstance(asked, TxnOffsetCommitAsked)
    return asked.version >= (NEW_PROTOCOL_OFFSETS if offsets else NEW_PROTOCOL_PRODUCE)


def knows_abortable(asked: PartitionWrite) -> bool:
    """Whether the client knows TRANSACTION_ABORTABLE (``AddPartitionsToTxnManager``)."""
    offsets = isinstance(asked, TxnOffsetCommitAsked)
    return asked.version >= (OFFSETS_KNOW_ABORTABLE if offsets else PRODUCE_KNOWS_ABORTABLE)


def is_transactional(asked: PartitionWrite) -> bool:
    """Whether what is appended says that it is part of a transaction."""
    return not isinstance(asked, ProduceAsked) or asked.transactional


def verified(asked: PartitionWrite, profile: ProtocolProfile) -> bool:
    """Whether the leader has it verified."""
    if isinstance(asked, TxnOffsetCommitAsked):
        return profile.verifies_offsets
    return asked.transactional and profile.verifies


def received(
    log: PartitionLog, asked: PartitionWrite, number: int, profile: ProtocolProfile
) -> ModelAnswer | tuple[PartitionLog, int]:
    """An answer at once, or the log with the verification that is begun, and its number: ``UNVERIFIED`` if none is.

    ``UnifiedLog.maybeStartTransactionVerification``.

    :param number: That a new verification gets.
    """
    if isinstance(asked, ProduceAsked) and asked.transactional and not asked.names_id:
        return NO_ID
    known, verifies = log.known(asked.producer_id), verified(asked, profile)
    if verifies and profile.refuses_old_epochs_first and asked.epoch < known.epoch:
        return OLD_EPOCH
    if not verifies or _ongoing(known, asked.epoch, profile):
        return log, UNVERIFIED
    begun = _begun(log.verifications.get(asked.producer_id), asked, number, profile)
    return replace(log, verifications=log.verifications.put(asked.producer_id, begun)), begun.number


def _ongoing(known: KnownProducer, epoch: int, profile: ProtocolProfile) -> bool:
    """``UnifiedLog.hasOngoingTransaction``."""
    return known.open_since is not None and (known.epoch == epoch or not profile.compares_open_epoch)


def _begun(before: Verification | None, asked: PartitionWrite, number: int, profile: ProtocolProfile) -> Verification:
    """One verification a producer: the lowest sequence of the newest epoch is kept (``VerificationStateEntry``)."""
    if before is None:
        return Verification(asked.sequence, asked.epoch, is_new(asked), number)
    if asked.epoch > before.epoch:
        new = before.new_protocol if profile.verification_stays_of_its_first_client else is_new(asked)
        return replace(before, lowest_sequence=asked.sequence, epoch=asked.epoch, new_protocol=new)
    lowest = min(before.lowest_sequence, asked.sequence) if asked.epoch == before.epoch else before.lowest_sequence
    return replace(before, lowest_sequence=lowest)


def question(asked: PartitionWrite) -> AddPartitionsAsked:
    """What the leader asks the coordinator: to add for a new client, only to verify for an old one."""
    return AddPartitionsAsked(
        id=asked.id,
        version=ADDS if is_new(asked) else VERIFIES,
        producer_id=asked.producer_id,
        epoch=asked.epoch,
        partitions=frozenset({asked.partition}),
        verify_only=not is_new(asked),
    )


def translated(asked: PartitionWrite, refused: ModelAnswer) -> ModelAnswer:
    """A coordinator's refusal as the writer's version knows it (``AddPartitionsToTxnManager``, ``ReplicaManager``)."""
    if refused.error == "PRODUCER_FENCED":
        return OLD_EPOCH
    if refused.error == "TRANSACTION_ABORTABLE" and not knows_abortable(asked):
        return NOT_ONGOING
    waits = refused.error == "CONCURRENT_TRANSACTIONS" and not is_new(asked)
    if isinstance(asked, ProduceAsked) and (waits or refused == LOADING):
        return ModelAnswer("NOT_ENOUGH_REPLICAS")
    return refused


def written(
    log: PartitionLog, asked: ProduceAsked, number: int, profile: ProtocolProfile
) -> tuple[ModelAnswer, PartitionLog]:
    """The append, after the coordinator confirmed verification ``number``, or without one.

    ``UnifiedLog.analyzeAndValidateRecords``: its size. ``analyzeAndValidateProducerState``: repetitions, and then the
    transaction, the epoch, the sequence.
    """
    if asked.too_large:
        return TOO_LARGE, log
    known = log.known(asked.producer_id)
    if known.epoch == asked.epoch and any(asked.sequence == first for first, _ in known.batches):
        return ModelAnswer(), log
    if refused := not_part_of_it(log, asked, number, profile):
        return refused, log
    if not _in_order(log, known, asked, profile):
        return OUT_OF_ORDER, log
    if not asked.transactional:
        return _written_beside(log, known, asked)
    entry = LogEntry(asked.producer_id, asked.epoch, sequence=asked.sequence, value=asked.value)
    return ModelAnswer(), log.appended(entry, known.with_batch(asked.epoch, asked.sequence, len(log.entries)))


def _written_beside(log: PartitionLog, known: KnownProducer, asked: ProduceAsked) -> tuple[ModelAnswer, PartitionLog]:
    """A batch of no transaction: refused while the producer has one open (``ProducerAppendInfo.appendDataBatch``).

    It ends no verification (``UnifiedLog.updateProducers``).
    """
    if known.open_since is not None:
        return NOT_ONGOING, log
    entry = LogEntry(asked.producer_id, asked.epoch, sequence=asked.sequence, value=asked.value)
    after = replace(known.with_batch(asked.epoch, asked.sequence, len(log.entries)), open_since=None)
    return ModelAnswer(), replace(log.appended(entry, after), verifications=log.verifications)


def not_part_of_it(
    log: PartitionLog, asked: PartitionWrite, number: int, profile: ProtocolProfile
) -> ModelAnswer | None:
    """The refusal of what is in no transaction that the leader knows to be open, or in an old epoch.

    Of a transaction that is not going on here the epoch is looked at before the verification (KAFKA-19690).
    """
    known = log.known(asked.producer_id)
    if not is_transactional(asked):
        return OLD_EPOCH if asked.epoch < known.epoch else None
    if verified(asked, profile) and not _ongoing(known, asked.epoch, profile) and not _confirmed(log, asked, number):
        return OLD_EPOCH if profile.appends_no_old_epoch and asked.epoch < known.epoch else NOT_ONGOING
    return OLD_EPOCH if asked.epoch < known.epoch else None


def _confirmed(log: PartitionLog, asked: PartitionWrite, number: int) -> bool:
    verification = log.verifications.get(asked.producer_id)
    return verification is not None and verification.number == number != UNVERIFIED


def _in_order(log: PartitionLog, known: KnownProducer, asked: ProduceAsked, profile: ProtocolProfile) -> bool:
    """``ProducerAppendInfo.checkSequence``."""
    verification = log.verifications.get(asked.producer_id)
    if verification is not None:
        first_must_be_zero = profile.first_sequence_is_zero and verification.new_protocol
        if first_must_be_zero and asked.sequence != 0 and not known.batches:
            return False
        if asked.sequence > verification.lowest_sequence:
            return False
    if known.epoch == NONE:
        return True
    if asked.epoch != known.epoch:
        return asked.sequence == 0
    return asked.sequence == known.last_sequence + 1


def marked(log: PartitionLog, asked: WriteMarkerAsked, profile: ProtocolProfile) -> tuple[ModelAnswer, PartitionLog]:
    """A marker: refused in an old epoch, or from an old coordinator (``ProducerAppendInfo.appendEndTxnMarker``).

    It ends the producer's verification, but for a new client's in the marker's own epoch: a new client's transaction is
    marked in the epoch of its next one (``UnifiedLog.updateProducers``).
    """
    known = log.known(asked.producer_id)
    strict = profile.strict_markers and asked.level >= 2
    repeated = strict and asked.epoch == known.epoch and known.open_since is None
    if (asked.epoch <= known.epoch if strict else asked.epoch < known.epoch) and not repeated:
        return OLD_EPOCH, log
    if asked.coordinator_epoch < known.coordinator_epoch:
        return ModelAnswer("TRANSACTION_COORDINATOR_FENCED"), log
    after = replace(known.in_epoch(asked.epoch), open_since=None, coordinator_epoch=asked.coordinator_epoch)
    appended = log.appended(LogEntry(asked.producer_id, asked.epoch, marker=asked.commit), after)
    verification = log.verifications.get(asked.producer_id)
    if verification is None or not (verification.new_protocol and verification.epoch == asked.epoch):
        return ModelAnswer(), appended
    return ModelAnswer(), replace(appended, verifications=log.verifications)  # of the transaction after the marker's


def described(log: PartitionLog, asked: DescribeProducerAsked) -> ModelAnswer:
    """DescribeProducers (KIP-664): any replica answers by its own log (``ReplicaManager.activeProducerState``)."""
    if asked.by is DescribedBy.STRANGER:
        return ModelAnswer("NOT_LEADER_OR_FOLLOWER")
    known = log.producers.get(asked.producer_id)
    if known is None:
        return ModelAnswer()
    return ModelAnswer(state=described_producer(known.epoch, known.last_sequence, is_open=known.open_since is not None))


def described_producer(epoch: int, last_sequence: int, *, is_open: bool) -> str:
    """What a list of producers tells of one, in words."""
    return f"epoch {epoch}, last sequence {last_sequence}, {'open' if is_open else 'nothing open'}"
