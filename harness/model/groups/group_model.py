"""What a group's coordinator answers to the offsets of a transaction, and what OffsetFetch then shows.

The group is one partition more of the transaction: its log is a partition of ``__consumer_offsets``, whose leader
verifies and adds as any other does, and refuses old epochs, but knows no repetitions and looks at no sequences, because
the coordinator writes and not the client (``AppendOrigin.COORDINATOR``). What is appended is pending until the marker
comes. Sources: KIP-98, KIP-447, KIP-890; ``GroupCoordinatorService.commitTransactionalOffsets``,
``OffsetMetadataManager``, ``CoordinatorRuntime``; before 4.0 ``GroupCoordinator``, ``GroupMetadataManager`` and
``GroupMetadata``.
"""

from typing import TypeAlias

from msgspec.structs import replace

from harness.model.coordinator_model import Known, Ruled, add_partitions
from harness.model.leader_model import not_part_of_it
from harness.model.model_requests import AddOffsetsAsked, AddPartitionsAsked, ModelAnswer, TxnOffsetCommitAsked
from harness.model.model_state import NONE, GroupOffsets, KeptOffset, LogEntry, PartitionLog
from harness.model.protocol_profile import ProtocolProfile

Kept: TypeAlias = tuple[ModelAnswer, GroupOffsets, PartitionLog]

NEWEST_OF_OLD_CLIENTS = 3
"""Of AddPartitionsToTxn: AddOffsetsToTxn of every version is like this one or an older."""
FIRST_SEQUENCE = 0
"""Of each of the coordinator's batches (``CoordinatorRuntime``, ``GroupMetadataManager.generateOffsetRecords``)."""
UNKNOWN_MEMBER = ModelAnswer("UNKNOWN_MEMBER_ID")
NO_SUCH_GENERATION = ModelAnswer("ILLEGAL_GENERATION")
UNSTABLE = "UNSTABLE_OFFSET_COMMIT"


def add_offsets(known: Known, asked: AddOffsetsAsked, profile: ProtocolProfile) -> Ruled:
    """A partition is added, as by AddPartitionsToTxn of an old client (``KafkaApis.handleAddOffsetsToTxnRequest``)."""
    return add_partitions(known, adds_like(asked), profile)


def adds_like(asked: AddOffsetsAsked) -> AddPartitionsAsked:
    """The AddPartitionsToTxn that does the same."""
    return AddPartitionsAsked(
        id=asked.id,
        version=min(asked.version, NEWEST_OF_OLD_CLIENTS),
        producer_id=asked.producer_id,
        epoch=asked.epoch,
        partitions=frozenset({asked.group}),
    )


def committed(
    group: GroupOffsets, log: PartitionLog, asked: TxnOffsetCommitAsked, number: int, profile: ProtocolProfile
) -> Kept:
    """After the transaction's coordinator confirmed verification ``number``, or without one: members first."""
    if refused := _no_member(group, asked, profile):
        return refused, group, log
    if refused := not_part_of_it(log, asked, number, profile):
        return refused, _failed(group, asked, profile), log
    known, at = log.known(asked.producer_id), len(log.entries)
    entry = LogEntry(asked.producer_id, asked.epoch, sequence=FIRST_SEQUENCE, value=asked.value, offset=asked.offset)
    after = log.appended(entry, known.with_batch(asked.epoch, FIRST_SEQUENCE, at))
    return ModelAnswer(), replayed(group, at, entry), after


def _no_member(group: GroupOffsets, asked: TxnOffsetCommitAsked, profile: ProtocolProfile) -> ModelAnswer | None:
    """``validateTransactionalOffsetCommit``, ``ClassicGroup.validateOffsetCommit``: a generation names a member.

    Without generation a group that has no members takes offsets of anybody, whatever member is named.
    """
    if asked.generation == NONE:
        return None
    return UNKNOWN_MEMBER if group.exists or not profile.new_group_coordinator else NO_SUCH_GENERATION


def _failed(group: GroupOffsets, asked: TxnOffsetCommitAsked, profile: ProtocolProfile) -> GroupOffsets:
    """Nothing changes; before 4.0 what the same producer has pending is forgotten, though its record stays.

    ``GroupMetadata.prepareTxnOffsetCommit`` overwrites it before the append, and ``failPendingTxnOffsetCommit`` removes
    what it finds, of whatever epoch.
    """
    if profile.new_group_coordinator:
        return group
    return replace(group, pending=group.pending.without(asked.producer_id))


def replayed(group: GroupOffsets, at: int, entry: LogEntry) -> GroupOffsets:
    """After an entry of the group's log (``OffsetMetadataManager.replay``, ``replayEndTransactionMarker``)."""
    if entry.marker is None:
        pending = group.pending.put(entry.producer_id, KeptOffset(entry.offset, at))
        return replace(group, exists=True, pending=pending)
    ended = group.pending.get(entry.producer_id)
    left = replace(group, pending=group.pending.without(entry.producer_id))
    if ended is None or not entry.marker:
        return left
    newest = group.committed is None or ended.at > group.committed.at
    return replace(left, committed=ended) if newest else left


def loaded(log: PartitionLog) -> GroupOffsets:
    """What another coordinator of the group makes of its log."""
    group = GroupOffsets()
    for at, entry in enumerate(log.entries):
        group = replayed(group, at, entry)
    return group


def shown(group: GroupOffsets, *, stable: bool) -> tuple[str, int]:
    """OffsetFetch: an error and the committed offset.

    :param stable: ``require_stable`` (KIP-447): while an offset is pending, there is no answer.
    """
    if stable and group.pending:
        return UNSTABLE, NONE
    return "NONE", NONE if group.committed is None else group.committed.offset


def next_offset(log: PartitionLog) -> int:
    """One that no record of the group has."""
    return 1 + max((entry.offset for entry in log.entries), default=NONE)
