"""The wire client's error table: what each code means in the answer to each API (Kafka's ``Errors``).

A code is *refused* where the broker decides it before anything is appended, and *unsure* where the broker may answer it
after the append: a leader that steps down while a write waits for its replicas answers NOT_LEADER_OR_FOLLOWER
(``DelayedProduce``), a coordinator whose log append fails or times out answers COORDINATOR_NOT_AVAILABLE or
NOT_COORDINATOR (``TransactionStateManager.appendTransactionToLog``, ``GroupMetadataManager``), and the append may
survive with the next leader all the same. So it is with COORDINATOR_LOAD_IN_PROGRESS of a transaction's coordinator
that has ceased to be one, and become it again, while its append was waiting (the same method's callback).
"""

from collections.abc import Mapping

from harness.base.kafka_error import KafkaError
from harness.clients.outcome_table import OutcomeRow, refused, unsure
from harness.evidence.history.operation import Outcome

UNLISTED = unsure("a code that the table does not list: nobody decided whether it can come after the effect")

_EVERYWHERE: Mapping[int, OutcomeRow] = {
    KafkaError.UNKNOWN_SERVER_ERROR: unsure("an exception at an unknown place in the broker, perhaps after the append"),
    KafkaError.TOPIC_AUTHORIZATION_FAILED: refused("not authorised for the topic; decided before anything else"),
    KafkaError.GROUP_AUTHORIZATION_FAILED: refused("not authorised for the group; decided before anything else"),
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: refused("not authorised for the cluster; decided before anything else"),
    KafkaError.UNSUPPORTED_VERSION: refused("the broker does not know this version of the request"),
    KafkaError.INVALID_REQUEST: refused("the request itself is malformed; decided before anything else"),
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: refused(
        "not authorised for the transactional id; decided before anything else"
    ),
}
_TRANSACTION: Mapping[int, OutcomeRow] = {
    KafkaError.INVALID_PRODUCER_EPOCH: refused("the epoch is older than the one known: this producer is fenced"),
    KafkaError.INVALID_TXN_STATE: refused("the transaction is in no state that allows this"),
    KafkaError.INVALID_PRODUCER_ID_MAPPING: refused(
        "the coordinator knows another producer id for this transactional id, or none"
    ),
    KafkaError.CONCURRENT_TRANSACTIONS: refused(
        "another transition of this transactional id is under way; this one was not begun", again=True
    ),
    KafkaError.PRODUCER_FENCED: refused("a newer producer has this transactional id: this one is fenced"),
    KafkaError.TRANSACTION_ABORTABLE: refused("the broker asks that the transaction be aborted (KIP-890)"),
}
_COORDINATOR: Mapping[int, OutcomeRow] = {
    KafkaError.REQUEST_TIMED_OUT: unsure(
        "the coordinator's append was not replicated in time, and may survive", again=True
    ),
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS: unsure(
        "the coordinator is loading, perhaps again, while its append was waiting", again=True
    ),
    KafkaError.COORDINATOR_NOT_AVAILABLE: unsure(
        "no coordinator, or its append could not be replicated and may survive", again=True
    ),
    KafkaError.NOT_COORDINATOR: unsure(
        "not the coordinator, or it ceased to be one while the append was waiting", again=True
    ),
    KafkaError.TRANSACTION_COORDINATOR_FENCED: unsure(
        "the coordinator was fenced by a newer one while it worked", again=True
    ),
}
_ASKED: Mapping[int, OutcomeRow] = {**_EVERYWHERE, **_TRANSACTION, **_COORDINATOR}

_INIT: Mapping[int, OutcomeRow] = {
    **_ASKED,
    KafkaError.INVALID_TRANSACTION_TIMEOUT: refused(
        "transaction.timeout.ms is above the broker's transaction.max.timeout.ms"
    ),
}
_ADD_PARTITIONS: Mapping[int, OutcomeRow] = {
    **_ASKED,
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION: refused("the coordinator does not know the partition (yet)", again=True),
    KafkaError.OPERATION_NOT_ATTEMPTED: refused("another partition of the same request was refused", again=True),
}
_ADD_OFFSETS: Mapping[int, OutcomeRow] = {**_ASKED, 24: refused("the group id is not valid")}
_OFFSETS: Mapping[int, OutcomeRow] = {
    **_ASKED,
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION: refused(
        "the group's coordinator does not know the input partition (yet)", again=True
    ),
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS: refused(
        "the group's coordinator, or the transaction's, is still loading: not appended", again=True
    ),
    KafkaError.OFFSET_METADATA_TOO_LARGE: refused("the metadata beside the offset is too large"),
    KafkaError.NOT_ENOUGH_REPLICAS: refused(
        "the transaction could not be verified, or too few replicas are in sync: not appended", again=True
    ),
    KafkaError.ILLEGAL_GENERATION: refused("the group has a newer generation (KIP-447)"),
    KafkaError.INVALID_GROUP_ID: refused("the group id is not valid"),
    KafkaError.UNKNOWN_MEMBER_ID: refused(
        "the group does not know this member: its partitions may be another's by now"
    ),
    KafkaError.REBALANCE_IN_PROGRESS: refused("the group is rebalancing: its partitions may be another's by now"),
    KafkaError.INVALID_COMMIT_OFFSET_SIZE: refused("the offsets are too many for one batch"),
    KafkaError.FENCED_INSTANCE_ID: refused("a newer member has this static instance id"),
    KafkaError.FENCED_MEMBER_EPOCH: refused("the member's epoch is older than the group's"),
    KafkaError.STALE_MEMBER_EPOCH: refused("the member's epoch is older than the group's"),
}
_PRODUCE: Mapping[int, OutcomeRow] = {
    **_EVERYWHERE,
    **_TRANSACTION,
    KafkaError.CORRUPT_MESSAGE: refused("the batch was damaged on its way; checked before the append", again=True),
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION: unsure(
        "the partition is not here, or was taken away while the write waited for its replicas", again=True
    ),
    KafkaError.LEADER_NOT_AVAILABLE: refused("the partition has no leader now", again=True),
    KafkaError.NOT_LEADER_OR_FOLLOWER: unsure(
        "not the leader, or it ceased to be one while the write waited for its replicas", again=True
    ),
    KafkaError.REQUEST_TIMED_OUT: unsure("appended, but not replicated in time", again=True),
    KafkaError.MESSAGE_TOO_LARGE: refused("the record is larger than the topic allows; checked before the append"),
    KafkaError.NETWORK_EXCEPTION: unsure("the broker lost a connection while it worked on the write", again=True),
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS: refused(
        "the transaction's coordinator is still loading: not verified, not appended", again=True
    ),
    KafkaError.COORDINATOR_NOT_AVAILABLE: refused(
        "the transaction's coordinator is not available: not verified, not appended", again=True
    ),
    KafkaError.NOT_COORDINATOR: refused(
        "the transaction's coordinator has moved: not verified, not appended", again=True
    ),
    KafkaError.INVALID_TOPIC_EXCEPTION: refused("no valid topic name, or an internal topic"),
    KafkaError.RECORD_LIST_TOO_LARGE: refused("the batch is larger than a segment; checked before the append"),
    KafkaError.NOT_ENOUGH_REPLICAS: refused(
        "too few replicas are in sync, or the transaction could not be verified: not appended", again=True
    ),
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND: unsure(
        "appended, but too few replicas were in sync afterwards", again=True
    ),
    KafkaError.INVALID_REQUIRED_ACKS: refused("acks is neither -1, 0 nor 1"),
    KafkaError.INVALID_TIMESTAMP: refused("the record's timestamp is out of range; checked before the append"),
    KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT: refused("the topic's message format knows no such record"),
    KafkaError.POLICY_VIOLATION: refused("a policy of the broker forbids it"),
    KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER: refused(
        "the sequence number does not follow the last one of this producer; checked before the append"
    ),
    KafkaError.DUPLICATE_SEQUENCE_NUMBER: OutcomeRow(
        outcome=Outcome.REFUSED,
        reason="the leader has had this sequence number already: after a lost answer, our own first try",
        after_doubt=Outcome.DONE,
    ),
    KafkaError.KAFKA_STORAGE_ERROR: unsure("the leader's disk failed, perhaps after the append", again=True),
    KafkaError.UNKNOWN_PRODUCER_ID: refused(
        "the leader has no state of this producer that the sequence number would follow"
    ),
    KafkaError.UNSUPPORTED_COMPRESSION_TYPE: refused("the topic's format does not know the compression"),
    KafkaError.INVALID_RECORD: refused("the leader found the record invalid; checked before the append"),
    KafkaError.UNKNOWN_TOPIC_ID: refused("the leader does not know the topic's id (yet)", again=True),
}
_GROUP: Mapping[int, OutcomeRow] = {
    **_EVERYWHERE,
    KafkaError.REQUEST_TIMED_OUT: unsure("the coordinator did not write its state in time", again=True),
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS: refused("the coordinator is still loading", again=True),
    KafkaError.COORDINATOR_NOT_AVAILABLE: refused("the group has no coordinator now", again=True),
    KafkaError.NOT_COORDINATOR: refused("the broker does not coordinate the group now", again=True),
    KafkaError.ILLEGAL_GENERATION: refused("the group has a newer generation: join again"),
    KafkaError.INCONSISTENT_GROUP_PROTOCOL: refused("the other members know none of our assignors"),
    KafkaError.INVALID_GROUP_ID: refused("the group id is not valid"),
    KafkaError.UNKNOWN_MEMBER_ID: refused("the group does not know this member: join again"),
    KafkaError.INVALID_SESSION_TIMEOUT: refused("the session timeout is outside what the broker allows"),
    KafkaError.REBALANCE_IN_PROGRESS: refused("the group is rebalancing: join again"),
    KafkaError.MEMBER_ID_REQUIRED: refused("a new member is given its name first, and asks again with it (KIP-394)"),
    KafkaError.GROUP_MAX_SIZE_REACHED: refused("the group has as many members as it may"),
    KafkaError.FENCED_INSTANCE_ID: refused("a newer member has this static instance id"),
    KafkaError.UNSTABLE_OFFSET_COMMIT: refused(
        "an open transaction commits offsets of these partitions (KIP-447)", again=True
    ),
}
_READ: Mapping[int, OutcomeRow] = {
    **_EVERYWHERE,
    KafkaError.OFFSET_OUT_OF_RANGE: refused("the log has no such offset"),
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION: refused("the partition is not here (yet)", again=True),
    KafkaError.LEADER_NOT_AVAILABLE: refused("the partition has no leader now", again=True),
    KafkaError.NOT_LEADER_OR_FOLLOWER: refused("the broker does not lead the partition now", again=True),
    KafkaError.REPLICA_NOT_AVAILABLE: refused("the replica is not available now", again=True),
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS: refused("the coordinator is still loading", again=True),
    KafkaError.COORDINATOR_NOT_AVAILABLE: refused("there is no coordinator now", again=True),
    KafkaError.KAFKA_STORAGE_ERROR: refused("the leader's disk failed", again=True),
    KafkaError.FENCED_LEADER_EPOCH: refused("the leader epoch is old", again=True),
    KafkaError.UNKNOWN_LEADER_EPOCH: refused("the leader epoch is not known yet", again=True),
    KafkaError.OFFSET_NOT_AVAILABLE: refused("a new leader does not know its high watermark yet", again=True),
    KafkaError.UNSTABLE_OFFSET_COMMIT: refused(
        "an open transaction commits offsets of these partitions (KIP-447)", again=True
    ),
}
_DESCRIBE: Mapping[int, OutcomeRow] = {
    **_EVERYWHERE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS: refused("the coordinator is still loading", again=True),
    KafkaError.COORDINATOR_NOT_AVAILABLE: refused("there is no coordinator now", again=True),
    KafkaError.NOT_COORDINATOR: refused("the broker does not coordinate the id now", again=True),
    KafkaError.TRANSACTIONAL_ID_NOT_FOUND: refused("the coordinator does not know the id"),
}

TABLES: Mapping[str, Mapping[int, OutcomeRow]] = {
    "InitProducerId": _INIT,
    "AddPartitionsToTxn": _ADD_PARTITIONS,
    "AddOffsetsToTxn": _ADD_OFFSETS,
    "Produce": _PRODUCE,
    "TxnOffsetCommit": _OFFSETS,
    "EndTxn": _ASKED,
    "DescribeTransactions": _DESCRIBE,
    "JoinGroup": _GROUP,
    "SyncGroup": _GROUP,
    "Heartbeat": _GROUP,
    "LeaveGroup": _GROUP,
    "OffsetFetch": _GROUP,
    "Fetch": _READ,
    "ListOffsets": _READ,
    "Metadata": _READ,
    "FindCoordinator": _READ,
}
"""By API, by error code."""


def row_of(api: str, error: int) -> OutcomeRow:
    """The row of an error code other than 0; :data:`UNLISTED` for one that is not listed.

    >>> row_of("EndTxn", KafkaError.PRODUCER_FENCED).outcome
    <Outcome.REFUSED: 'refused'>
    """
    return TABLES[api].get(error, UNLISTED)
