"""Rules that break how a leader asks the coordinator about a write, verifying old clients and adding for new ones.

Names of classes and arguments are those of Kafka 4.3.1 (``org.apache.kafka.server.transaction``).
"""

from harness.contract.byteman.rule_text import rule

_MANAGER = "org.apache.kafka.server.transaction.AddPartitionsToTxnManager"
_OPERATION = f"{_MANAGER}$TransactionSupportedOperation"
_ANSWERED = f"{_MANAGER}$AddPartitionsToTxnHandler#sendCallbacksToAll"
_ERRORS = "org.apache.kafka.common.protocol.Errors"
_VERIFY = "kafka.coordinator.transaction.TransactionCoordinator#handleVerifyPartitionsInTransaction"
_ENTRY = """known : scala.Option = $0.transactionManager().getTransactionState($1).toOption().get();
     entry : kafka.coordinator.transaction.CoordinatorEpochAndTxnMetadata = known.get()"""


def _client_taken_for(name: str, operation: str, when: str = "true") -> str:
    """What the leader takes the client for, by its Produce version ``$1``."""
    place = f"{_MANAGER}#produceRequestVersionToTransactionSupportedOperation"
    return rule(name, place, f"return\n  {_OPERATION}.{operation}", when=when)


CLIENT_WITHOUT_ABORTABLE_ERROR = _client_taken_for(
    "every client is taken for one that does not know the abortable error", "DEFAULT_ERROR"
)
NEW_CLIENT_TAKEN_FOR_OLD = _client_taken_for("the leader takes a new client for an old one", "GENERIC_ERROR_SUPPORTED")
NEWEST_CLIENT_TAKEN_FOR_OLD = _client_taken_for(
    "the leader takes the newest clients for old ones", "GENERIC_ERROR_SUPPORTED", "$1 == 13"
)
OLD_CLIENT_TAKEN_FOR_NEW = _client_taken_for(
    "the leader takes every client for a new one that understands the coordinator's error", "ADD_PARTITION"
)
EVERY_PARTITION_VERIFIED = rule(
    "the coordinator finds every partition in the transaction",
    f"{_MANAGER}#addOrVerifyTransaction",
    "$5.complete(java.util.Collections.emptyMap()); return",
)
EVERYTHING_IS_IN_THE_TRANSACTION = rule(
    "the coordinator answers every verification with a yes",
    "org.apache.kafka.common.requests.AddPartitionsToTxnResponse#resultForTransaction",
    "$2.clear()",
    when=f"$2.containsValue({_ERRORS}.TRANSACTION_ABORTABLE)",
)
NO_PARTITION_VERIFIED = rule(
    "the leader hears that no partition is in the transaction",
    f"{_MANAGER}#addTxnData",
    f"$3.complete($0.topicPartitionsToError($2, {_ERRORS}.INVALID_TXN_STATE)); return",
)


def lost_coordinator_is(name: str, code: str) -> str:
    """A coordinator that could not be reached counts as this error code (Java, a short)."""
    return rule(name, _ANSWERED, f"$1 = {code}")


LOST_COORDINATOR_IS_INVALID_STATE = lost_coordinator_is(
    "the leader passes on an error that is no reason to try again", f"{_ERRORS}.INVALID_TXN_STATE.code()"
)
LOST_COORDINATOR_IS_A_YES = lost_coordinator_is(
    "a lost coordinator's silence is taken for a yes", 'java.lang.Short.parseShort("0")'
)
LOST_COORDINATOR_IS_UNKNOWN = lost_coordinator_is(
    "a lost coordinator is an unknown error", 'java.lang.Short.parseShort("-1")'
)


def coordinator_error_is_a_yes(error: str) -> str:
    """A leader that hears this error of the coordinator goes on as if the partitions were verified."""
    return rule(
        f"{error} of the coordinator is taken for a yes",
        f"{_MANAGER}#sendCallback",
        "$2 = java.util.Collections.emptyMap()",
        when=f"$2.containsValue({_ERRORS}.{error})",
    )


def coordinator_error_is_invalid_state(error: str) -> str:
    """A leader that hears this error of the coordinator takes it for a no."""
    return rule(
        f"{error} of the coordinator is taken for a no",
        f"{_MANAGER}#sendCallback",
        f"$2 = java.util.Collections.singletonMap($2.keySet().iterator().next(), {_ERRORS}.INVALID_TXN_STATE)",
        when=f"$2.containsValue({_ERRORS}.{error})",
    )


WAITING_ONE_BY_ONE = rule(
    "the leader does not wait for an answer before it asks the coordinator about the next",
    f"{_MANAGER}#generateRequests",
    "$0.inflightNodes.clear()",
)
REPLACED_QUESTION_IS_A_NO = rule(
    "the leader takes a question that it replaces by a newer one for a no",
    f"{_MANAGER}#topicPartitionsToError",
    f"$2 = {_ERRORS}.INVALID_TXN_STATE",
    when=f"$2 == {_ERRORS}.NETWORK_EXCEPTION",
)
FENCED_QUESTION_IS_A_YES = rule(
    "the leader takes a question of an older epoch for verified",
    f"{_MANAGER}#topicPartitionsToError",
    "return java.util.Collections.emptyMap()",
    when=f"$2 == {_ERRORS}.INVALID_PRODUCER_EPOCH",
)
NO_RETRY_OF_ADDS = rule(
    "the broker does not try again",
    "org.apache.kafka.coordinator.transaction.AddPartitionsToTxnConfig#addPartitionsToTxnRetryBackoffMaxMs",
    "return 0",
)
ANY_PRODUCER_ID_VERIFIED = rule(
    "the coordinator takes any producer id for the one that it gave out",
    _VERIFY,
    "$2 = entry.transactionMetadata().producerId()",
    bind=_ENTRY,
)
ANY_EPOCH_VERIFIED = rule(
    "the coordinator takes any epoch for its own",
    _VERIFY,
    "$3 = entry.transactionMetadata().producerEpoch()",
    bind=_ENTRY,
)
UNKNOWN_ID_VERIFIED = rule(
    "the coordinator finds nothing wrong with an id that it does not know",
    "org.apache.kafka.common.requests.AddPartitionsToTxnResponse#resultForTransaction",
    "$2.clear()",
    when=f"$2.containsValue({_ERRORS}.INVALID_PRODUCER_ID_MAPPING)",
)
SWITCH_NOT_OBEYED = rule(
    "verification cannot be switched off",
    "org.apache.kafka.coordinator.transaction.TransactionLogConfig#transactionPartitionVerificationEnable",
    "return true",
)
NO_BATCH_SEEN_AS_TRANSACTIONAL = rule(
    "the leader does not see that a request has transactional batches",
    "org.apache.kafka.common.requests.RequestUtils#hasTransactionalRecords",
    "return false",
)
SWITCH_ALWAYS_ON = rule(
    "the leader asks whatever the switch says",
    "org.apache.kafka.coordinator.transaction.TransactionLogConfig#transactionPartitionVerificationEnable",
    "return true",
) + rule(
    "the log asks whatever the switch says",
    "org.apache.kafka.storage.internals.log.ProducerStateManagerConfig#transactionVerificationEnabled",
    "return true",
)
ADDS_STAY_WITH_THE_LEADER = rule(
    "the leader takes a partition for added without telling the coordinator",
    f"{_MANAGER}#addOrVerifyTransaction",
    "$5.complete(java.util.Collections.emptyMap()); return",
    when="$6.supportsEpochBump",
)
LATER_ADDS_STAY_WITH_THE_LEADER = rule(
    "the leader takes a partition for added once the id has ended a transaction",
    f"{_MANAGER}#addOrVerifyTransaction",
    "$5.complete(java.util.Collections.emptyMap()); return",
    when="$6.supportsEpochBump AND $3 > 0",
)
NO_PATIENCE_IS_THE_MOST = rule(
    "a broker that is told not to try again does so for the longest time",
    "org.apache.kafka.coordinator.transaction.AddPartitionsToTxnConfig#addPartitionsToTxnRetryBackoffMaxMs",
    "return 4000",
    when="$! == 0",
    at="EXIT",
)
FENCED_QUESTION_WAITS = rule(
    "the leader keeps a question of an older epoch for seven seconds",
    f"{_MANAGER}#topicPartitionsToError",
    "delay(7000)",
    when=f"$2 == {_ERRORS}.INVALID_PRODUCER_EPOCH",
)
