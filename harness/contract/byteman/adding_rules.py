"""Rules that break how the coordinator answers AddPartitionsToTxn, of clients and of brokers.

Names of classes and arguments are those of Kafka 4.3.1 (``kafka.coordinator.transaction.TransactionCoordinator``).
"""

from harness.base.kafka_error import KafkaError
from harness.contract.byteman.rule_text import rule

_COORDINATOR = "kafka.coordinator.transaction.TransactionCoordinator"
_ADD = f"{_COORDINATOR}#handleAddPartitionsToTransaction"
_MESSAGE = "org.apache.kafka.common.message.AddPartitionsToTxn"
_YES = "$5.apply(org.apache.kafka.common.protocol.Errors.NONE); return"


def _answer_turned(name: str, answer: int, other: int, *, of: str = "") -> str:
    """Where a partition's answer would be one error, it is another; ``of`` is part of the name of who answers."""
    place = f"{_MESSAGE}ResponseData$AddPartitionsToTxnPartitionResult#setPartitionErrorCode"
    asked = f' AND callerMatches(".*{of}.*", true, true, 10)' if of else ""
    return rule(name, place, f'$1 = java.lang.Short.parseShort("{other:d}")', when=f"$1 == {answer:d}{asked}")


EVERY_ADD_ANSWERED_YES = rule("the coordinator says yes to every add and does nothing", _ADD, _YES)
EMPTY_ID_MAY_ADD = rule("an empty transactional id may add", _ADD, _YES, when='"".equals($1)')
_VERIFY_ONLY = f"{_MESSAGE}RequestData$AddPartitionsToTxnTransaction#verifyOnly"
VERIFICATION_ADDS = rule("a verification adds the partition", _VERIFY_ONLY, "return false")
ADD_ONLY_VERIFIES = rule("an add only verifies", _VERIFY_ONLY, "return true")
ABSENT_PARTITION_VERIFIED = _answer_turned(
    "every partition is found in the transaction", KafkaError.TRANSACTION_ABORTABLE, 0
)
ABSENT_PARTITION_FENCED = _answer_turned(
    "who asks for an absent partition is answered as fenced",
    KafkaError.TRANSACTION_ABORTABLE,
    KafkaError.PRODUCER_FENCED,
)
FENCED_EPOCH_VERIFIED = _answer_turned("a fenced epoch is verified", KafkaError.PRODUCER_FENCED, 0)
PRESENT_PARTITION_NOT_VERIFIED = _answer_turned(
    "no partition is found in the transaction", 0, KafkaError.TRANSACTION_ABORTABLE, of="handleVerifyPartitions"
)
ENDING_TRANSACTION_FENCED = _answer_turned(
    "who asks during the end is answered as fenced", KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.PRODUCER_FENCED
)
ENDING_TRANSACTION_OPEN = _answer_turned(
    "who asks during the end is answered with yes", KafkaError.CONCURRENT_TRANSACTIONS, 0
)
VERIFICATION_RENEWS_THE_START = rule(
    "a verification moves the start of the transaction",
    f"{_COORDINATOR}#handleVerifyPartitionsInTransaction",
    "txn.txnStartTimestamp = txn.txnStartTimestamp() + 1000",
    when="kept != null",
    bind="""found:scala.util.Either = $0.transactionManager().getTransactionState($1);
     right:scala.Option = found.toOption();
     some:scala.Option = right.isEmpty() ? right : right.get();
     kept:kafka.coordinator.transaction.CoordinatorEpochAndTxnMetadata = some.isEmpty() ? null : some.get();
     txn:org.apache.kafka.coordinator.transaction.TransactionMetadata =
     kept == null ? null : kept.transactionMetadata()""",
)
NEW_CLIENT_FENCED_AS_OLD = _answer_turned(
    "every version is told of a stale epoch as the oldest",
    KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
)
UNKNOWN_PARTITION_KNOWN = rule(
    "brokers know every partition, there or not",
    "org.apache.kafka.metadata.KRaftMetadataCache#contains(org.apache.kafka.common.TopicPartition)",
    "return true",
)
UNSTABLE_VERSIONS_TAKEN = rule(
    "versions that are not advertised are taken",
    "org.apache.kafka.common.protocol.ApiKeys#isVersionEnabled",
    "return true",
)
NEWEST_VERSION_REFUSED = rule(
    "the newest version is advertised and not taken",
    "org.apache.kafka.common.protocol.ApiKeys#isVersionEnabled",
    "return false",
    when="$0.id == 24 AND $1 == 5",
)
