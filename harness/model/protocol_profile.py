"""In what releases differ, as data: what a broker advertises chooses it, never a version string."""

from dataclasses import dataclass

NEW_PROTOCOL_PRODUCE = 12
"""Of Produce: the version by which a leader adds the partition for the client (KIP-890 part 2)."""


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
    :param fence_bumps_twice: An abort that the coordinator begins bumps the epoch by two (KAFKA-19367, in 4.0.0).
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


NEWEST = ProtocolProfile()
"""Kafka 4.3 with ``transaction.version`` 2."""
OLD_PROTOCOL = ProtocolProfile(
    level=0,
    compares_open_epoch=False,
    refuses_old_epochs_first=False,
    ending_comes_first=False,
    first_sequence_is_zero=False,
    strict_markers=False,
)
"""Kafka 3.9: verification, and nothing else of KIP-890."""
UNDEFENDED = ProtocolProfile(
    verifies=False,
    level=0,
    compares_open_epoch=False,
    refuses_old_epochs_first=False,
    ending_comes_first=False,
    first_sequence_is_zero=False,
    strict_markers=False,
)
"""Kafka 3.5 and older."""


def profile_of(
    produce: int, write_markers: int, add_partitions: int, level: int, *, verification: bool = True
) -> ProtocolProfile:
    """By the newest version offered of Produce, WriteTxnMarkers and AddPartitionsToTxn, and the finalized level.

    :param verification: Whether ``transaction.partition.verification.enable`` is on.
    """
    new = produce >= NEW_PROTOCOL_PRODUCE
    return ProtocolProfile(
        verifies=verification and add_partitions >= 4,
        level=level,
        compares_open_epoch=new,
        refuses_old_epochs_first=new,
        ending_comes_first=new,
        first_sequence_is_zero=new,
        strict_markers=write_markers >= 2,
    )
