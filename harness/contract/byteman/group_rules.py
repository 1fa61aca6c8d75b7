"""Rules that break a group's coordinator: whose offsets it takes, what it answers, what becomes of them at the end.

Names of classes and arguments are those of Kafka 4.3.1 (``org.apache.kafka.coordinator.group``).
"""

from harness.contract.byteman.rule_text import rule

_ERRORS = "org.apache.kafka.common.protocol.Errors"
_REFUSED = "org.apache.kafka.common.requests.TxnOffsetCommitRequest#getErrorResponse(TxnOffsetCommitRequestData,Errors)"
_MANAGER = "org.apache.kafka.server.transaction.AddPartitionsToTxnManager"
_ENDED = "org.apache.kafka.coordinator.group.OffsetMetadataManager#replayEndTransactionMarker"
_RESULT = "org.apache.kafka.common.requests.TransactionResult"

NEW_OFFSETS_TAKEN_FOR_OLD = rule(
    "the group's coordinator takes a new client's offsets for an old one's",
    f"{_MANAGER}#txnOffsetCommitRequestVersionToTransactionSupportedOperation",
    f"return\n  {_MANAGER}$TransactionSupportedOperation.GENERIC_ERROR_SUPPORTED",
)
REFUSED_OFFSETS_ARE_AN_UNKNOWN_ERROR = rule(
    "the group's coordinator does not say why it refuses offsets", _REFUSED, f"$2 = {_ERRORS}.UNKNOWN_SERVER_ERROR"
)
REFUSED_OFFSETS_ARE_NOT_NAMED = rule(
    "the answer names none of the partitions whose offsets are refused", _REFUSED, "$1.topics().clear()"
)
ANY_MEMBER_MAY_COMMIT = rule(
    "the group's coordinator takes every member for one without group management",
    "org.apache.kafka.coordinator.group.classic.ClassicGroup#validateOffsetCommit",
    '$1 = "";\n   $3 = -1',
)
ABORTED_OFFSETS_COUNT = rule("the group's coordinator commits what was aborted", _ENDED, f"$2 = {_RESULT}.COMMIT")
COMMITTED_OFFSETS_ARE_LOST = rule("the group's coordinator aborts what was committed", _ENDED, f"$2 = {_RESULT}.ABORT")
PENDING_OFFSETS_ARE_TOLD = rule(
    "the group's coordinator does not say that an offset is pending",
    "org.apache.kafka.common.message.OffsetFetchResponseData$OffsetFetchResponsePartitions#setErrorCode",
    '$1 = java.lang.Short.parseShort("0")',
    when=f"$1 == {_ERRORS}.UNSTABLE_OFFSET_COMMIT.code()",
)
OLD_OFFSETS_TAKEN_FOR_NEW = rule(
    "the group's coordinator takes every client's offsets for a new one's",
    f"{_MANAGER}#txnOffsetCommitRequestVersionToTransactionSupportedOperation",
    f"return\n  {_MANAGER}$TransactionSupportedOperation.ADD_PARTITION",
)
