"""Rules that break the transaction coordinator: EndTxn, AddPartitionsToTxn, timeouts, listing, markers it sends.

Names of classes and arguments are those of Kafka 4.3.1 (``kafka.coordinator.transaction.TransactionCoordinator``).
"""

from harness.contract.byteman.rule_text import rule

_COORDINATOR = "kafka.coordinator.transaction.TransactionCoordinator"
_STATE = "org.apache.kafka.coordinator.transaction.TransactionState"
_KEPT = "kafka.coordinator.transaction.CoordinatorEpochAndTxnMetadata"
_ERRORS = "org.apache.kafka.common.protocol.Errors"
_ASKED_IDENTITY = "java.lang.Long.valueOf($2), java.lang.Short.valueOf($3)"

_METADATA_OF_THE_ID = f"""found:scala.util.Right = $0.transactionManager().getTransactionState($1);
     some:scala.Some = found.value();
     kept:{_KEPT} = some.value();
     txn:org.apache.kafka.coordinator.transaction.TransactionMetadata = kept.transactionMetadata()"""

_KEPT_OR_NULL = f"""found:scala.util.Either = $0.transactionManager().getTransactionState($1);
     right:scala.Option = found.toOption();
     some:scala.Option = right.isEmpty() ? right : right.get();
     kept:{_KEPT} = some.isEmpty() ? null : some.get()"""


def _at_end(name: str, when: str, do: str, *, bind: str = _METADATA_OF_THE_ID) -> str:
    """EndTxn: ``$2`` producer id, ``$3`` producer epoch, ``$4`` result, ``$6`` answer; ``txn`` is what is kept."""
    return rule(name, f"{_COORDINATOR}#handleEndTransaction", do, when=when, bind=bind)


def _when_state(state: str, operator: str = "==") -> str:
    return f"txn.state() {operator} {_STATE}.{state}"


END_COMMITS_AFTER_LOWERING = _at_end(
    "an end of the new protocol commits whatever it asks, where the level was lowered since",
    "$5.supportsEpochBump() AND NOT $0.transactionManager().transactionVersionLevel().supportsEpochBump()",
    "$4 = org.apache.kafka.common.requests.TransactionResult.COMMIT",
)
END_KNOWS_NO_REPETITION = _at_end("the coordinator knows no repetitions", "$3 < txn.producerEpoch()", "$3 = 30000")
OVERFLOW_KNOWS_NO_REPETITION = _at_end(
    "the coordinator knows no repetitions by the id of before", "$2 != txn.producerId()", "$3 = 30000"
)
REPETITION_GETS_THE_OLD_EPOCH = _at_end(
    "a repetition is answered with the epoch that it was asked in",
    "$3 < txn.producerEpoch()",
    f"$6.apply({_ERRORS}.NONE, {_ASKED_IDENTITY});\n   return",
)
OLD_END_NOT_REPEATABLE = _at_end("an old client may not ask again", _when_state("ONGOING", "!="), "$3 = 30000")
LATE_ABORT_TAKEN_FOR_THE_NEXT = _at_end(
    "a late abort of a committed transaction is taken for one of the next",
    _when_state("COMPLETE_COMMIT"),
    "$3 = txn.producerEpoch()",
)
NO_ABORT_AFTER_COMMIT = _at_end("nothing can be aborted after a commit", _when_state("COMPLETE_COMMIT"), "$3 = 30000")
EMPTY_ABORT_TAKEN_FOR_REPETITION = _at_end(
    "an abort of nothing after an abort is taken for a repetition",
    _when_state("COMPLETE_ABORT"),
    f"$6.apply({_ERRORS}.NONE, {_ASKED_IDENTITY});\n   return",
)
CURRENT_EPOCH_TAKEN_FOR_REPETITION = _at_end(
    "an end after a commit is a repetition, whatever its epoch",
    _when_state("COMPLETE_COMMIT"),
    f"$6.apply({_ERRORS}.NONE, {_ASKED_IDENTITY});\n   return",
)
ANY_EPOCH_MAY_END = _at_end(
    "an end of any epoch is taken for one of the current epoch",
    "kept != null",
    "$3 = kept.transactionMetadata().producerEpoch()",
    bind=_KEPT_OR_NULL,
)
LATER_EPOCH_MOVES_THE_ID_ON = _at_end(
    "an end ahead of its time moves the id on to its epoch",
    "$3 > txn.producerEpoch() + 1",
    "txn.setProducerEpoch($3)",
)
EMPTY_COMMIT_TAKEN_FOR_ABORT = _at_end(
    "a commit is taken for an abort where nothing is open",
    _when_state("ONGOING", "!="),
    "$4 = org.apache.kafka.common.requests.TransactionResult.ABORT",
)
EMPTY_COMMIT_CHANGES_THE_EPOCH = _at_end(
    "a commit of nothing moves the id on to another epoch",
    _when_state("ONGOING", "!="),
    'txn.setProducerEpoch(java.lang.Short.parseShort("30000"))',
)
DELAYED_END_TAKEN_FOR_CURRENT = _at_end(
    "the coordinator takes the epoch of a delayed end for the current one",
    _when_state("ONGOING"),
    "$3 = txn.producerEpoch()",
)
ANY_PRODUCER_ID_MAY_END = _at_end(
    "any producer id may end a transaction",
    "kept != null",
    "$2 = kept.transactionMetadata().producerId()",
    bind=_KEPT_OR_NULL,
)
UNKNOWN_ID_ANSWERED_AS_STALE = _at_end(
    "an end for an id that is not kept here is answered as a stale one",
    "kept == null",
    f"$6.apply({_ERRORS}.PRODUCER_FENCED,\n            {_ASKED_IDENTITY});\n   return",
    bind=_KEPT_OR_NULL,
)
OPPOSITE_END_TAKEN_FOR_REPETITION = rule(
    "an opposite end is answered as a repetition",
    f"{_COORDINATOR}#logInvalidStateTransitionAndReturnError",
    f"return new scala.util.Left({_ERRORS}.NONE)",
)
DECISION_MAY_CHANGE_WHILE_ENDING = _at_end(
    "the coordinator says yes to whatever is asked for while it writes markers",
    "kept != null AND txn.pendingTransitionInProgress()",
    f"$6.apply({_ERRORS}.NONE, {_ASKED_IDENTITY});\n   return",
    bind=_KEPT_OR_NULL + ";\n     txn:org.apache.kafka.coordinator.transaction.TransactionMetadata ="
    "\n       kept == null ? null : kept.transactionMetadata()",
)
ADD_IN_THE_CURRENT_EPOCH = rule(
    "the coordinator has a finished transaction opened again in its old epoch",
    f"{_COORDINATOR}#handleAddPartitionsToTransaction",
    "$3 = txn.producerEpoch()",
    bind=_METADATA_OF_THE_ID,
)
ADD_NOT_KEPT = rule(
    "the coordinator says yes and keeps nothing",
    f"{_COORDINATOR}#handleAddPartitionsToTransaction",
    f"$5.apply({_ERRORS}.NONE); return",
)
NO_TIMEOUT = rule("nobody looks for overdue transactions", f"{_COORDINATOR}#abortTimedOutTransactions", "return")
PREPARING_IDS_NOT_LISTED = rule(
    "ids whose markers are under way are left out",
    "kafka.coordinator.transaction.TransactionStateManager#shouldInclude$1",
    "return false",
    when='$1.state().stateName().startsWith("Prepare")',
)
_MARKERS = "kafka.coordinator.transaction.TransactionMarkerChannelManager#addTxnMarkersToBrokerQueue"
MARKERS_IN_THE_LAST_EPOCH = rule(
    "markers carry the epoch of the transaction's data", _MARKERS, "$2 = $4.txnMetadata().lastProducerEpoch()"
)
MARKERS_IN_ANOTHER_EPOCH = rule("markers of an old client carry the next epoch", _MARKERS, "$2 = 30000")
_LOADING = f"$!.errorCode() == {_ERRORS}.COORDINATOR_LOAD_IN_PROGRESS.code()"
PARTIAL_LIST_WHILE_LOADING = rule(
    "a coordinator that is loading lists what it has",
    f"{_COORDINATOR}#handleListTransactions",
    f"$!.setErrorCode({_ERRORS}.NONE.code())",
    when=_LOADING,
    at="EXIT",
)
UNKNOWN_WHILE_LOADING = rule(
    "a coordinator that is loading knows no ids",
    f"{_COORDINATOR}#handleDescribeTransactions",
    f"$!.setErrorCode({_ERRORS}.TRANSACTIONAL_ID_NOT_FOUND.code())",
    when=_LOADING,
    at="EXIT",
)
DESCRIBED_WHILE_LOADING = rule(
    "a coordinator that is loading describes what it has not read yet",
    f"{_COORDINATOR}#handleDescribeTransactions",
    f"$!.setErrorCode({_ERRORS}.NONE.code())",
    when=_LOADING,
    at="EXIT",
)
LIST_IS_EMPTY = rule(
    "a coordinator lists nothing", f"{_COORDINATOR}#handleListTransactions", "$!.transactionStates().clear()", at="EXIT"
)
_INIT_REQUEST = "org.apache.kafka.common.message.InitProducerIdRequestData#read"
_NO_IDENTITY = '$0.setProducerId(java.lang.Long.parseLong("-1")); $0.setProducerEpoch(java.lang.Short.parseShort("-1"))'
HALF_AN_IDENTITY_IS_NONE = rule(
    "half an identity is taken for none",
    _INIT_REQUEST,
    _NO_IDENTITY,
    when="$0.producerId() == -1 OR $0.producerEpoch() == -1",
    at="EXIT",
)
INIT_IGNORES_THE_IDENTITY = rule(
    "InitProducerId takes no notice of the identity",
    _INIT_REQUEST,
    _NO_IDENTITY,
    at="EXIT",
)
FORGOTTEN_IDENTITY_FENCED = rule(
    "an identity is fenced by an id that has no epoch yet",
    "org.apache.kafka.coordinator.transaction.TransactionMetadata#prepareIncrementProducerEpoch",
    'throw new org.apache.kafka.common.errors.ProducerFencedException("no epoch yet")',
    when="$0.producerEpoch() == -1 AND $2.isPresent()",
)
_INIT_RESPONSE = "org.apache.kafka.common.message.InitProducerIdResponseData"
EVERY_START_GETS_EPOCH_1000 = rule(
    "every start is told the epoch 1000",
    f"{_INIT_RESPONSE}#setProducerEpoch",
    '$1 = java.lang.Short.parseShort("1000")',
    when="$1 > 0",
)
IDEMPOTENT_PRODUCERS_SHARE_AN_ID = rule(
    "every start is told the same producer id", f"{_INIT_RESPONSE}#setProducerId", "$1 = 7", when="$1 > 0"
)
NO_TIMEOUT_IS_TOO_LONG = rule(
    "no timeout is too long",
    "kafka.coordinator.transaction.TransactionStateManager#validateTransactionTimeoutMs",
    "return true",
    when="$2 > 0",
)
_IDENTITY = "org.apache.kafka.common.utils.ProducerIdAndEpoch"
OLD_ID_GIVEN_AGAIN = rule(
    "who shows the identity of a forgotten id gets that producer id again",
    f"{_COORDINATOR}#prepareInitProducerIdTransit",
    "$4.setProducerId(old.producerId)",
    when="$4.producerEpoch() == -1 AND old != null",
    bind=f"old:{_IDENTITY} = $5.isEmpty() ? null : $5.get()",
)
