"""The wire client's error table: what each code means in the answer to each API (Kafka's ``Errors``).

A code is *refused* where the broker decides it before anything is appended, and *unsure* where the broker may say it
after the append: a leader that steps down while a write waits for its replicas answers NOT_LEADER_OR_FOLLOWER
(``DelayedProduce``), a coordinator whose log append fails or times out answers COORDINATOR_NOT_AVAILABLE or
NOT_COORDINATOR (``TransactionStateManager.appendTransactionToLog``, ``GroupMetadataManager``), and the append may
survive with the next leader all the same.
"""

from collections.abc import Mapping

from harness.clients.outcome_table import OutcomeRow, refused, unsure
from harness.evidence.operation import Outcome

UNLISTED = unsure("a code that the table does not list: nobody decided whether it can come after the effect")

_EVERYWHERE: Mapping[int, OutcomeRow] = {
    -1: unsure("an exception at an unknown place in the broker, perhaps after the append"),
    29: refused("not authorised for the topic; decided before anything else"),
    30: refused("not authorised for the group; decided before anything else"),
    31: refused("not authorised for the cluster; decided before anything else"),
    35: refused("the broker does not know this version of the request"),
    42: refused("the request itself is malformed; decided before anything else"),
    53: refused("not authorised for the transactional id; decided before anything else"),
}
_TRANSACTION: Mapping[int, OutcomeRow] = {
    47: refused("the epoch is older than the one known: this producer is fenced"),
    48: refused("the transaction is in no state that allows this"),
    49: refused("the coordinator knows another producer id for this transactional id, or none"),
    51: refused("another transition of this transactional id is under way; this one was not begun", again=True),
    90: refused("a newer producer has this transactional id: this one is fenced"),
    120: refused("the broker asks that the transaction be aborted (KIP-890)"),
}
_COORDINATOR: Mapping[int, OutcomeRow] = {
    7: unsure("the coordinator's append was not replicated in time, and may survive", again=True),
    14: refused("the coordinator is still loading; nothing was done", again=True),
    15: unsure("no coordinator, or its append could not be replicated and may survive", again=True),
    16: unsure("not the coordinator, or it ceased to be one while the append was waiting", again=True),
    52: unsure("the coordinator was fenced by a newer one while it worked", again=True),
}
_ASKED: Mapping[int, OutcomeRow] = {**_EVERYWHERE, **_TRANSACTION, **_COORDINATOR}

_INIT: Mapping[int, OutcomeRow] = {
    **_ASKED,
    50: refused("transaction.timeout.ms is above the broker's transaction.max.timeout.ms"),
}
_ADD_PARTITIONS: Mapping[int, OutcomeRow] = {
    **_ASKED,
    3: refused("the coordinator does not know the partition (yet)", again=True),
    55: refused("another partition of the same request was refused", again=True),
}
_ADD_OFFSETS: Mapping[int, OutcomeRow] = {**_ASKED, 24: refused("the group id is not valid")}
_OFFSETS: Mapping[int, OutcomeRow] = {
    **_ASKED,
    3: refused("the group's coordinator does not know the input partition (yet)", again=True),
    12: refused("the metadata beside the offset is too large"),
    19: refused("the transaction could not be verified, or too few replicas are in sync: not appended", again=True),
    22: refused("the group has a newer generation (KIP-447)"),
    24: refused("the group id is not valid"),
    25: refused("the group does not know this member: its partitions may be another's by now"),
    27: refused("the group is rebalancing: its partitions may be another's by now"),
    28: refused("the offsets are too many for one batch"),
    82: refused("a newer member has this static instance id"),
    110: refused("the member's epoch is older than the group's"),
    113: refused("the member's epoch is older than the group's"),
}
_PRODUCE: Mapping[int, OutcomeRow] = {
    **_EVERYWHERE,
    **_TRANSACTION,
    2: refused("the batch was damaged on its way; checked before the append", again=True),
    3: unsure("the partition is not here, or was taken away while the write waited for its replicas", again=True),
    5: refused("the partition has no leader now", again=True),
    6: unsure("not the leader, or it ceased to be one while the write waited for its replicas", again=True),
    7: unsure("appended, but not replicated in time", again=True),
    10: refused("the record is larger than the topic allows; checked before the append"),
    13: unsure("the broker lost a connection while it worked on the write", again=True),
    14: refused("the transaction's coordinator is still loading: not verified, not appended", again=True),
    15: refused("the transaction's coordinator is not available: not verified, not appended", again=True),
    16: refused("the transaction's coordinator has moved: not verified, not appended", again=True),
    17: refused("no valid topic name, or an internal topic"),
    18: refused("the batch is larger than a segment; checked before the append"),
    19: refused("too few replicas are in sync, or the transaction could not be verified: not appended", again=True),
    20: unsure("appended, but too few replicas were in sync afterwards", again=True),
    21: refused("acks is neither -1, 0 nor 1"),
    32: refused("the record's timestamp is out of range; checked before the append"),
    43: refused("the topic's message format knows no such record"),
    44: refused("a policy of the broker forbids it"),
    45: refused("the sequence number does not follow the last one of this producer; checked before the append"),
    46: OutcomeRow(
        outcome=Outcome.REFUSED,
        reason="the leader has had this sequence number already: after a lost answer, our own first try",
        after_doubt=Outcome.DONE,
    ),
    56: unsure("the leader's disk failed, perhaps after the append", again=True),
    59: refused("the leader has no state of this producer that the sequence number would follow"),
    76: refused("the topic's format does not know the compression"),
    87: refused("the leader found the record invalid; checked before the append"),
    100: refused("the leader does not know the topic's id (yet)", again=True),
}
_GROUP: Mapping[int, OutcomeRow] = {
    **_EVERYWHERE,
    7: unsure("the coordinator did not write its state in time", again=True),
    14: refused("the coordinator is still loading", again=True),
    15: refused("the group has no coordinator now", again=True),
    16: refused("the broker does not coordinate the group now", again=True),
    22: refused("the group has a newer generation: join again"),
    23: refused("the other members know none of our assignors"),
    24: refused("the group id is not valid"),
    25: refused("the group does not know this member: join again"),
    26: refused("the session timeout is outside what the broker allows"),
    27: refused("the group is rebalancing: join again"),
    79: refused("a new member is given its name first, and asks again with it (KIP-394)"),
    81: refused("the group has as many members as it may"),
    82: refused("a newer member has this static instance id"),
    88: refused("an open transaction commits offsets of these partitions (KIP-447)", again=True),
}
_READ: Mapping[int, OutcomeRow] = {
    **_EVERYWHERE,
    1: refused("the log has no such offset"),
    3: refused("the partition is not here (yet)", again=True),
    5: refused("the partition has no leader now", again=True),
    6: refused("the broker does not lead the partition now", again=True),
    9: refused("the replica is not available now", again=True),
    14: refused("the coordinator is still loading", again=True),
    15: refused("there is no coordinator now", again=True),
    56: refused("the leader's disk failed", again=True),
    74: refused("the leader epoch is old", again=True),
    75: refused("the leader epoch is not known yet", again=True),
    78: refused("a new leader does not know its high watermark yet", again=True),
    88: refused("an open transaction commits offsets of these partitions (KIP-447)", again=True),
}

TABLES: Mapping[str, Mapping[int, OutcomeRow]] = {
    "InitProducerId": _INIT,
    "AddPartitionsToTxn": _ADD_PARTITIONS,
    "AddOffsetsToTxn": _ADD_OFFSETS,
    "Produce": _PRODUCE,
    "TxnOffsetCommit": _OFFSETS,
    "EndTxn": _ASKED,
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
"""By API, by code."""


def row_of(api: str, code: int) -> OutcomeRow:
    """The row of a code that is not 0; :data:`UNLISTED` for one that nobody listed.

    >>> row_of("EndTxn", 90).outcome
    <Outcome.REFUSED: 'refused'>
    """
    return TABLES[api].get(code, UNLISTED)
