"""Rules that break a partition's leader: what it takes into its log, what it keeps of producers, where readers stop.

Names of classes and arguments are those of Kafka 4.3.1 (``org.apache.kafka.storage.internals.log``).
"""

from harness.contract.byteman.rule_text import rule

_STORAGE = "org.apache.kafka.storage.internals.log"
_APPEND = f"{_STORAGE}.ProducerAppendInfo"
_LOG = f"{_STORAGE}.UnifiedLog"
_VERIFICATION = f"{_STORAGE}.VerificationStateEntry"
_ENTRY = f"{_STORAGE}.ProducerStateEntry"

NO_EPOCH_CHECK = rule("leaders have no eye for old epochs", f"{_APPEND}#checkProducerEpoch", "return")
NO_CHECK_OF_DATA = rule(
    "the leader checks neither epoch nor sequence of data", f"{_APPEND}#maybeValidateDataBatch", "return"
)
NO_SEQUENCE_CHECK = rule("the leader does not see that a sequence is wrong", f"{_APPEND}#checkSequence", "return")
LOWEST_SEQUENCE_FORGOTTEN = rule(
    "the leader does not remember the sequences of what it could not verify",
    f"{_VERIFICATION}#lowestSequence",
    "return java.lang.Integer.MAX_VALUE",
)
LOWEST_SEQUENCE_KEPT = rule(
    "the leader remembers for ever what it could not verify at first",
    f"{_VERIFICATION}#maybeUpdateLowestSequenceAndEpoch",
    "return",
)
NO_COORDINATOR_EPOCH_CHECK = rule(
    "the leader does not look at the coordinator's epoch", f"{_APPEND}#checkCoordinatorEpoch", "return"
)
ABORT_MARKER_ENDS_NOTHING = rule(
    "an abort marker is written and ends nothing",
    f"{_APPEND}#appendEndTxnMarker",
    "return java.util.Optional.empty()",
    when="$1.controlType() == org.apache.kafka.common.record.internal.ControlRecordType.ABORT",
)
EVERY_TRANSACTION_ONGOING = rule(
    "the leader takes every record for one of an open transaction", f"{_LOG}#hasOngoingTransaction", "return true"
)
KNOWN_PRODUCER_NOT_ASKED_ABOUT = rule(
    "the leader does not ask the coordinator about a producer that it knows",
    f"{_LOG}#maybeStartTransactionVerification",
    f"return {_STORAGE}.VerificationGuard.SENTINEL",
    when="$0.producerStateManager().activeProducers().containsKey(java.lang.Long.valueOf($1))",
)
EVERY_TRANSACTION_ONGOING_AT_THE_APPEND = rule(
    "the append takes every record for one of an open transaction",
    f"{_LOG}#hasOngoingTransaction",
    "return true",
    when='callerMatches(".*analyzeAndValidateProducerState.*", true, true)',
)
NO_GUARD_AT_THE_APPEND = rule(
    "the leader has no guard at the append", f"{_LOG}#batchMissingRequiredVerification", "return false"
)
NO_FIRST_UNSTABLE_OFFSET = rule(
    "the leader does not stop readers at an open transaction",
    f"{_STORAGE}.ProducerStateManager#firstUnstableOffset",
    "return java.util.Optional.empty()",
)
NO_DUPLICATE_FOUND = rule(
    "the leader does not know a batch when it comes again",
    f"{_ENTRY}#findDuplicateBatch",
    "return java.util.Optional.empty()",
)
SEQUENCES_KEPT_ACROSS_EPOCHS = rule(
    "the leader keeps the sequences of the transaction that ended", f"{_ENTRY}#maybeUpdateProducerEpoch", "return"
)
START_OFFSET_IS_THE_LAST = rule(
    "the start offset is the last batch's",
    f"{_ENTRY}#currentTxnFirstOffset",
    "return java.util.OptionalLong.of($this.lastDataOffset())",
    when='callerMatches(".*activeProducers.*", true, true)',
)
NO_TRANSACTION_ONGOING = rule(
    "the leader knows of no open transaction", f"{_LOG}#hasOngoingTransaction", "return false"
)
GAP_REFUSED_OF_EVERYBODY = rule(
    "the leader refuses every first batch that does not begin at 0",
    f"{_APPEND}#checkSequence",
    'throw new org.apache.kafka.common.errors.OutOfOrderSequenceException("a gap")',
    when="$2 != 0 AND $0.currentEntry.isEmpty()",
)
NEXT_AFTER_TEN_REFUSED = rule(
    "the leader refuses what follows the tenth record",
    f"{_APPEND}#checkSequence",
    'throw new org.apache.kafka.common.errors.OutOfOrderSequenceException("forgotten")',
    when="$2 > 9 AND $2 == $0.currentEntry.lastSeq() + 1",
)
EVERY_BATCH_TAKEN_AS_TRANSACTIONAL = rule(
    "the leader takes every batch of an open transaction for one of it",
    f"{_APPEND}#appendDataBatch",
    "$7 = true",
    when="$0.currentEntry.currentTxnFirstOffset().isPresent()",
)
_LATE = f"{_STORAGE}.ProducerStateManager#hasLateTransaction"
NO_PARTITION_LATE = rule("the leader finds no transaction late", _LATE, "return false")
EVERY_OPEN_TRANSACTION_LATE = rule(
    "the leader takes every open transaction for a late one", _LATE, "$1 = java.lang.Long.MAX_VALUE / 2"
)
NO_PADDING_OF_AGES = rule("the leader adds no minutes to the longest timeout", _LATE, "$1 = $1 + 300000")
OPEN_TRANSACTIONS_FORGOTTEN = rule(
    "the leader forgets idle producers whatever they have open",
    f"{_STORAGE}.ProducerStateManager#isProducerExpired",
    "return ($1 - $2.lastTimestamp()) >= 86400000L",
)
EVERY_SIZE_TAKEN = rule(
    "the leader has no limit for a batch's size", f"{_STORAGE}.LogConfig#maxMessageSize", "return 1048576"
)


def _appended_otherwise(name: str, change: str, when: str) -> str:
    """What is put into the buffer of a transaction's batch as it gets its offsets; then its checksum."""
    return rule(
        name,
        "org.apache.kafka.common.record.internal.DefaultRecordBatch#setPartitionLeaderEpoch",
        f"$0.buffer.{change}; $0.buffer.putInt(17, java.lang.Long.valueOf($0.computeChecksum()).intValue())",
        when=f"$0.isTransactional() AND !$0.isControlBatch() AND {when}",
    )


DATA_WRITTEN_IN_EPOCH_1 = _appended_otherwise(
    "the leader writes data in epoch 1, whatever epoch it has",
    'putShort(51, java.lang.Short.parseShort("1"))',
    "$0.producerEpoch() == 0",
)
_LAST_CHARACTER = "$0.sizeInBytes() - 2"  # behind it stands the number of headers
LAST_CHARACTER_IS_Z = _appended_otherwise(
    "the leader writes a Z in place of a record's last character",
    f'put({_LAST_CHARACTER}, java.lang.Byte.parseByte("90"))',
    "$0.countOrNull() != null",
)
EVERY_BATCH_WRITTEN_TWICE = (
    rule(
        "the leader writes twice what clients send",
        f"{_LOG}#appendAsLeader(MemoryRecords, int, AppendOrigin, RequestLocal, VerificationGuard, short)",
        "$1.buffer().putLong($1.buffer().position(), 0L); $0.appendAsLeader($1, $2, $3, $4, $5, $6)",
        when=f"$3 == {_STORAGE}.AppendOrigin.CLIENT AND incrementCounter(java.lang.Thread.currentThread()) % 2 == 1",
        at="EXIT",
    )
    + NO_DUPLICATE_FOUND
    + NO_SEQUENCE_CHECK
)
LATE_WRITES_SHOWN = EVERY_TRANSACTION_ONGOING + NO_GUARD_AT_THE_APPEND + NO_FIRST_UNSTABLE_OFFSET
LATE_ONCE_IS_LATE_FOR_EVER = rule(
    "the leader remembers that a transaction is late", _LATE, "flag($0)", when="$!", at="EXIT"
) + rule(
    "the leader takes a partition that had a late transaction for one that has it",
    _LATE,
    "return true",
    when="flagged($0)",
)
_ISOLATION = "org.apache.kafka.server.storage.log.FetchIsolation"
_LEVEL = "org.apache.kafka.common.IsolationLevel"
READERS_SHOWN_EVERYTHING = rule(
    "the leader shows readers of committed records what is not committed",
    f"{_ISOLATION}#of(int, {_LEVEL})",
    f"return {_ISOLATION}.HIGH_WATERMARK",
    when=f"$2 == {_LEVEL}.READ_COMMITTED",
)
