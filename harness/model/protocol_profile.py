"""In what releases differ, as data: what a broker advertises chooses it, never a version string."""

from dataclasses import asdict, dataclass, replace

NEW_PROTOCOL_PRODUCE = 12
"""Of Produce: the version by which a leader adds the partition for the client (KIP-890 part 2)."""
FIRST_WITH_OLD_EPOCHS_REFUSED = 13
"""Of Produce: the newest of the release in which leaders refused old epochs at once, 4.1 (KIP-516, KAFKA-18042)."""
NEW_PROTOCOL_OFFSETS = 5
"""Of TxnOffsetCommit: likewise."""
KNOWS_PATTERN = 2
"""Of ListTransactions: KIP-1152, in 4.1."""
TELLS_CORDONED = 5
"""Of DescribeLogDirs: KIP-1066, in 4.3."""
FIRST_WITH_VERIFIED_OFFSETS = 10
"""Of Produce: the newest of the release in which offsets were verified first, 3.7 (KIP-951, KAFKA-15987)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolProfile:
    """What a cluster does.

    :param verifies: The leader asks the coordinator before a transaction's first write (KIP-890 part 1, from 3.6 on).
    :param level: The finalized ``transaction.version``, which decides how the coordinator's own aborts bump the epoch.
    :param compares_open_epoch: A transaction is going on for a write of its own epoch only (KIP-890 part 2).
    :param refuses_old_epochs_first: A write in an epoch that the leader knows to be over is refused before the
        coordinator is asked (KAFKA-18042, from 4.1 on).
    :param ending_comes_first: Who adds partitions while a transaction ends is told to wait, whatever its identity (from
        4.0 on: it may have the identity that follows).
    :param appends_no_old_epoch: A write whose verification was ended meanwhile is refused for its epoch, where that is
        over too (KAFKA-19690).
    :param first_sequence_is_zero: A new client's first write to a leader that has no batch of it must have sequence 0.
    :param strict_markers: A marker of transaction version 2 must have a newer epoch than its records (from
        WriteTxnMarkers v2 on); its repetition is written once more (KAFKA-19999).
    :param verifies_offsets: The same of a group's offsets (KAFKA-15987, from 3.7 on).
    :param new_group_coordinator: Groups are kept by the coordinator of KIP-848 (from 4.0 on), which undoes what it
        could not append; the one before forgets what was pending.
    :param empty_has_no_begin: ListTransactions takes an id in Empty for one without a begin, also when it has had a
        transaction (from 4.1 on).
    :param verification_stays_of_its_first_client: A verification that a newer epoch goes on with counts as of a client
        of the protocol of the one who began it (``VerificationStateEntry.supportsEpochBump``), which lets an older
        client's late write in (KIP890-RACE-01-NEWER).
    :param fence_bumps_twice: An abort that the coordinator begins bumps the epoch by two (KAFKA-19367, in 4.0.0).
    :param fence_rotates: Such an abort in the last epoch ends in another producer id (KAFKA-20090, from 4.3 on).
    :param records_name_ids: What a coordinator writes down names the producer id before and the next one, from
        ``transaction.version`` 1 on (``TransactionLog.valueToBytes``, from 4.3 on); before that the next coordinator
        knows neither.
    """

    verifies: bool = True
    level: int = 2
    compares_open_epoch: bool = True
    refuses_old_epochs_first: bool = True
    ending_comes_first: bool = True
    appends_no_old_epoch: bool = True
    first_sequence_is_zero: bool = True
    strict_markers: bool = True
    fence_bumps_twice: bool = False
    verifies_offsets: bool = True
    new_group_coordinator: bool = True
    empty_has_no_begin: bool = True
    verification_stays_of_its_first_client: bool = True
    fence_rotates: bool = True
    records_name_ids: bool = True

    def __str__(self) -> str:
        """``transaction.version 2, verifies, compares open epoch, …``."""
        has = [name.replace("_", " ") for name, value in asdict(self).items() if value is True]
        return ", ".join((f"transaction.version {self.level}", *has))


NEWEST = ProtocolProfile()
"""Kafka 4.3 with ``transaction.version`` 2."""
OLD_PROTOCOL = ProtocolProfile(
    level=0,
    compares_open_epoch=False,
    refuses_old_epochs_first=False,
    ending_comes_first=False,
    first_sequence_is_zero=False,
    strict_markers=False,
    new_group_coordinator=False,
    empty_has_no_begin=False,
    fence_rotates=False,
    records_name_ids=False,
)
"""Kafka 3.9: verification, and nothing else of KIP-890."""
UNDEFENDED = replace(OLD_PROTOCOL, verifies=False, verifies_offsets=False)
"""Kafka 3.5 and older."""


def profile_of(
    produce: int,
    write_markers: int,
    add_partitions: int,
    level: int,
    *,
    offset_commit: int = NEW_PROTOCOL_OFFSETS,
    list_transactions: int = KNOWS_PATTERN,
    describe_log_dirs: int = TELLS_CORDONED,
    verification: bool = True,
) -> ProtocolProfile:
    """By the newest version offered of Produce, WriteTxnMarkers and AddPartitionsToTxn, and the finalized level.

    :param offset_commit: Of TxnOffsetCommit, :param list_transactions: of ListTransactions, which matter where they are
        asked. :param describe_log_dirs: Of DescribeLogDirs, which came with the release.
    :param verification: Whether ``transaction.partition.verification.enable`` is on.
    """
    new, verifies = produce >= NEW_PROTOCOL_PRODUCE, verification and add_partitions >= 4
    return ProtocolProfile(
        verifies=verifies,
        level=level,
        compares_open_epoch=new,
        refuses_old_epochs_first=produce >= FIRST_WITH_OLD_EPOCHS_REFUSED,
        ending_comes_first=new,
        first_sequence_is_zero=new,
        strict_markers=write_markers >= 2,
        verifies_offsets=verifies and produce >= FIRST_WITH_VERIFIED_OFFSETS,
        new_group_coordinator=offset_commit >= NEW_PROTOCOL_OFFSETS,
        empty_has_no_begin=list_transactions >= KNOWS_PATTERN,
        fence_rotates=describe_log_dirs >= TELLS_CORDONED,
        records_name_ids=describe_log_dirs >= TELLS_CORDONED,
    )
