"""Rules that break what the coordinator keeps of an id: epochs, states, records of ``__transaction_state``, answers.

Names of classes and arguments are those of Kafka 4.3.1 (``org.apache.kafka.coordinator.transaction``).
"""

from harness.contract.byteman.rule_text import rule

_METADATA = "org.apache.kafka.coordinator.transaction.TransactionMetadata"
_STATE = "org.apache.kafka.coordinator.transaction.TransactionState"
_LEVEL = "org.apache.kafka.server.common.TransactionVersion"


def _at_preparation(name: str, do: str, when: str = "true") -> str:
    """Before PrepareCommit or PrepareAbort: ``$1`` is the state, ``$2`` the client's transaction version."""
    return rule(name, f"{_METADATA}#prepareAbortOrCommit", do, when=when)


def _when_complete(name: str, state: str, do: str) -> str:
    when = f"$0.state() == {_STATE}.{state}"
    return rule(name, f"{_METADATA}#completeTransitionTo", do, when=when, at="EXIT")


def _at_init(name: str, do: str, when: str = "true") -> str:
    """InitProducerId: ``$2`` is the epoch that the client expects, an Optional."""
    return rule(name, f"{_METADATA}#prepareIncrementProducerEpoch", do, when=when)


END_WITHOUT_BUMP = _at_preparation("the end of a transaction forgets to bump the epoch", f"$2 = {_LEVEL}.TV_0")
END_KEEPS_THE_PRODUCER_ID = _at_preparation("the end in the last epoch keeps the producer id", "$3 = -1")
EPOCHS_ARE_NEVER_EXHAUSTED = rule("no epoch is the last", f"{_METADATA}#isEpochExhausted", "return false")
EPOCHS_ARE_ALWAYS_EXHAUSTED = rule("every epoch is the last", f"{_METADATA}#isEpochExhausted", "return $1 >= 0")
EPOCHS_BEGIN_AT_ONE = _at_init(
    "the first epoch is 1", '$this.setProducerEpoch(java.lang.Short.parseShort("0"))', "$this.producerEpoch() == -1"
)
EPOCHS_ARE_EXHAUSTED_TOO_EARLY = rule(
    "the epoch before the last is the last", f"{_METADATA}#isEpochExhausted", "return $1 >= 32765"
)
OVERFLOWED_ID_CANNOT_BE_TAKEN_OVER = _at_init(
    "nobody takes over an id that has changed its producer id",
    'throw new org.apache.kafka.common.errors.ProducerFencedException("overflowed")',
    "$2.isEmpty() AND $this.prevProducerId() >= 0",
)
ABORT_WITHOUT_BUMP = _at_preparation(
    "an abort forgets to bump the epoch", f"$2 = {_LEVEL}.TV_0", f"$1 == {_STATE}.PREPARE_ABORT"
)
COORDINATORS_ABORT_BUMPS_TWICE = _at_preparation(
    "the coordinator's own abort bumps the epoch twice, as KAFKA-19367",
    '$this.setProducerEpoch(java.lang.Short.parseShort("1"))',
    "$2.supportsEpochBump() AND $this.producerEpoch() == 0",
)
ABORTED_KEEPS_THE_LAST_EPOCH = _when_complete(
    "an aborted transaction is kept in the epoch before the bump",
    "COMPLETE_ABORT",
    "$0.setProducerEpoch($0.lastProducerEpoch())",
)
COMMITTED_KEEPS_THE_LAST_EPOCH = _when_complete(
    "the completed transaction falls back to the epoch before the bump",
    "COMPLETE_COMMIT",
    "$0.setProducerEpoch($0.lastProducerEpoch())",
)
COMMITTED_KEEPS_ANOTHER_EPOCH = _when_complete(
    "a completed transaction moves an old client's id on to another epoch",
    "COMPLETE_COMMIT",
    '$0.setProducerEpoch(java.lang.Short.parseShort("30000"))',
)
COMPLETED_NAMES_THE_NEXT_ID = rule(
    "the record of a completed transaction still names the next producer id",
    f"{_METADATA}#prepareTransitionTo",
    "$1.nextProducerId = $0.nextProducerId",
    when=f"$1.state == {_STATE}.COMPLETE_COMMIT",
)
INIT_ROTATES_THE_PRODUCER_ID = _at_init(
    "an identity is answered with another producer id",
    "return $this.prepareProducerIdRotation($this.producerId() + 1, $1, $3, false)",
    "$2.isPresent()",
)
INIT_FORGETS_THE_LAST_EPOCH = _at_init(
    "the last epoch is forgotten", "$this.setLastProducerEpoch($this.producerEpoch())"
)
INIT_REPETITION_TAKEN_FOR_THE_FIRST = _at_init(
    "a repetition is taken for the first request", "$2 = java.util.Optional.empty()"
)
END_TAKEN_AS_OF_THE_LEVEL = rule(
    "EndTxn is taken as of the finalized level", f"{_LEVEL}#transactionVersionForEndTxn", f"return {_LEVEL}.TV_0"
)
_TO_BYTES = "org.apache.kafka.coordinator.transaction.TransactionLog#valueToBytes"


def _recorded_otherwise(name: str, when: str = "true", **changed: str) -> str:
    """The record has other values (Java) for these fields of the transition; what is kept in memory is as it was."""
    fields = "producerId prevProducerId nextProducerId producerEpoch lastProducerEpoch txnTimeoutMs txnState"
    fields += " topicPartitions txnStartTimestamp txnLastUpdateTimestamp clientTransactionVersion"
    values = ", ".join(changed.get(field, f"$1.{field}()") for field in fields.split())
    return rule(
        name, _TO_BYTES, f"$1 = new org.apache.kafka.coordinator.transaction.TxnTransitMetadata({values})", when=when
    )


OVERFLOW_RECORDED_IN_THE_LAST_EPOCH = _recorded_otherwise(
    "the record of a commit that overflowed has the last epoch",
    f"$1.txnState() == {_STATE}.COMPLETE_COMMIT AND $1.producerEpoch() == 0",
    producerEpoch="$1.lastProducerEpoch()",
)
UNKNOWN_TAGS_UNREADABLE = rule(
    "a record of an empty id that is longer than it should be is passed over",
    "org.apache.kafka.coordinator.transaction.TransactionLog#read",
    "return new org.apache.kafka.coordinator.transaction.TransactionLog$UnknownValueVersion("
    'java.lang.Short.parseShort("1"))',
    when="$2 != null AND $2.remaining() > 100 AND $2.get($2.position() + 16) == 0",
)
OPEN_TRANSACTION_NAMES_THE_OLD_ID = rule(
    "the record of an open transaction names the producer id of before as the last one and the next one",
    f"{_METADATA}#prepareAddPartitions",
    "return new org.apache.kafka.coordinator.transaction.TxnTransitMetadata($!.producerId(), $0.prevProducerId(),"
    " $0.prevProducerId(), $!.producerEpoch(), $!.lastProducerEpoch(), $!.txnTimeoutMs(), $!.txnState(),"
    " $!.topicPartitions(), $!.txnStartTimestamp(), $!.txnLastUpdateTimestamp(), $!.clientTransactionVersion())",
    at="EXIT",
)
RECORDS_AS_OF_LEVEL_0 = rule("the coordinator writes its records as of level 0", _TO_BYTES, f"$2 = {_LEVEL}.TV_0")
RECORDS_AS_OF_LEVEL_1 = rule("the coordinator writes its records as of level 1", _TO_BYTES, f"$2 = {_LEVEL}.TV_1")
PROTOCOL_NOT_RECORDED = rule(
    "the coordinator's records leave out by which protocol a transaction runs",
    "org.apache.kafka.coordinator.transaction.generated.TransactionLogValue#setClientTransactionVersion",
    "return $0",
)
COMPLETED_IDS_ARE_NOT_KEPT = rule(
    "the coordinator writes a tombstone where a transaction has committed",
    "org.apache.kafka.coordinator.transaction.TransactionLog#valueToBytes",
    "return null",
    when=f"$1.txnState() == {_STATE}.COMPLETE_COMMIT",
)
END_NAMES_NO_PRODUCER_ID = rule(
    "the answer names no producer id", "org.apache.kafka.common.message.EndTxnResponseData#setProducerId", "$1 = -1"
)
_API_VERSIONS = "org.apache.kafka.server.DefaultApiVersionManager#apiVersionResponse"
NO_FEATURES_ADVERTISED = rule(
    "the broker says that it supports no features", _API_VERSIONS, "$!.data().supportedFeatures().clear()", at="EXIT"
)
LEVEL_1_ADVERTISED = rule(
    "the broker says that it supports level 1 at most",
    _API_VERSIONS,
    '$!.data().supportedFeatures().find("transaction.version").setMaxVersion(level)',
    bind=f"level = {_LEVEL}.TV_1.featureLevel()",
    at="EXIT",
)
MARKED_PARTITIONS_KEPT = rule(
    "a partition stays in the transaction after its marker", f"{_METADATA}#removePartition", "return"
)
TIME_COUNTS_FROM_THE_LAST_CHANGE = rule(
    "the time of a transaction counts from its last change",
    f"{_METADATA}#txnStartTimestamp",
    "return $this.txnLastUpdateTimestamp()",
)
TIMEOUT_OF_THE_FIRST_START = _at_init("a later start keeps the timeout", "$1 = $this.txnTimeoutMs()")
NO_TRANSITION_IS_PENDING = rule(
    "the coordinator forgets that it is writing",
    f"{_METADATA}#pendingTransitionInProgress",
    "return false",
)

TIMEOUT_RECORDED_LONGER = _recorded_otherwise("records have a longer timeout", txnTimeoutMs="$1.txnTimeoutMs() + 1")
NO_START_RECORDED = _recorded_otherwise("records have no start", txnStartTimestamp="-1L")
NO_PARTITIONS_RECORDED = _recorded_otherwise(
    "the record of a prepared commit has no partitions",
    f"$1.txnState() == {_STATE}.PREPARE_COMMIT",
    topicPartitions="new java.util.HashSet()",
)
ROTATION_FAILS = rule(
    "the coordinator cannot change a producer id",
    f"{_METADATA}#prepareProducerIdRotation",
    'throw new java.lang.IllegalStateException("no other producer id")',
)
EVERY_TRANSACTION_OVERDUE_SOON = rule(
    "a transaction has 200 ms, whatever its timeout is", f"{_METADATA}#txnTimeoutMs", "return 200"
)
