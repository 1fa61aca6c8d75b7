"""What a refusal or an end looks like at each version of a request: one table for all requirements.

Brokers know one error for each situation and translate it for clients that are too old for it.
"""

from harness.base.kafka_error import KafkaError

_FIRST_WITH_PRODUCER_FENCED = {"InitProducerId": 4, "AddPartitionsToTxn": 2, "AddOffsetsToTxn": 2, "EndTxn": 2}
"""KIP-588, "Public Interfaces"; ``KafkaApis`` answers lower versions with INVALID_PRODUCER_EPOCH."""

_FIRST_WITH_ABORTABLE = 11
"""KIP-890, "Public Interfaces" (ABORTABLE_ERROR); ``AddPartitionsToTxnManager.produceRequestVersionToTransaction…``."""

_FIRST_WITH_ERROR_MESSAGE = 8
"""KIP-467: Produce answers have ``error_message`` from here on."""

UNADDED_MESSAGE = "Partition was not added to the transaction"
"""KIP-890, "Old Clients / Produce Requests" asks for a message; this is Kafka's (``ReplicaManager.appendRecords``)."""


def fenced(api: str, version: int) -> KafkaError:
    """An epoch that is behind, by API (``EndTxn``); Produce and TxnOffsetCommit never learned PRODUCER_FENCED."""
    known = version >= _FIRST_WITH_PRODUCER_FENCED.get(api, version + 1)
    return KafkaError.PRODUCER_FENCED if known else KafkaError.INVALID_PRODUCER_EPOCH


def unadded(version: int) -> KafkaError:
    """A Produce to a partition that its transaction did not add."""
    return KafkaError.TRANSACTION_ABORTABLE if version >= _FIRST_WITH_ABORTABLE else KafkaError.INVALID_TXN_STATE


def unadded_by_kip(version: int) -> tuple[KafkaError, ...]:
    """What KIP-890 lets a leader answer there. Version 11, which knows the abortable error and adds nothing, is not in
    the KIP: INVALID_TXN_STATE is what it has for old clients, and the abortable error "can be returned on any failure"
    to those that know it."""
    old = (KafkaError.INVALID_TXN_STATE,)
    return (*old, KafkaError.TRANSACTION_ABORTABLE) if version >= _FIRST_WITH_ABORTABLE else old


def unadded_message(version: int) -> str | None:
    """The message beside :func:`unadded`; None where none is promised."""
    return UNADDED_MESSAGE if _FIRST_WITH_ERROR_MESSAGE <= version < _FIRST_WITH_ABORTABLE else None


def unverified_message(reason: KafkaError) -> str:
    """The message of a Produce that could not be verified (``ReplicaManager.handleProduceAppend``)."""
    return f"Unable to verify the partition has been added to the transaction. Underlying error: {reason.name}"


def late_add(version: int) -> tuple[KafkaError, ...]:
    """A Produce to a fresh partition while its transaction ends: from version 12 on it would add (KIP-890, part 2)."""
    stale = (KafkaError.INVALID_PRODUCER_EPOCH,)
    return (*stale, KafkaError.CONCURRENT_TRANSACTIONS) if version >= 12 else stale


def epoch_after_end(epoch: int, version: int) -> int:
    """The epoch of markers and of the id after an EndTxn in ``epoch``: one up from version 5 on (KIP-890, part 2)."""
    return epoch + 1 if version >= 5 else epoch


_FIRST_OFFSET_COMMIT_WITH_ABORTABLE = 4
"""``AddPartitionsToTxnManager.txnOffsetCommitRequestVersionToTransactionSupportedOperation``."""


def unadded_offset(version: int) -> KafkaError:
    """A TxnOffsetCommit of a group whose offsets partition the transaction did not add, up to version 4."""
    known = version >= _FIRST_OFFSET_COMMIT_WITH_ABORTABLE
    return KafkaError.TRANSACTION_ABORTABLE if known else KafkaError.INVALID_TXN_STATE
