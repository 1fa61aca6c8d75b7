"""How a transaction is made to hang: as the old defect did, by a late write that no coordinator was told of.

The verification of old clients is switched off for the write where brokers have it; that switch is the broker's, so a
requirement that uses it has ``Access.CHANGES`` and ``Order.CHANGES_SETTINGS``.
"""

from harness.base.unprepared import OutOfReach
from harness.contract.refuters import VERIFICATION
from harness.evidence.requirement_evidence import Evidence, NotSeen
from harness.lab import Lab, Partition, Producer

WRITE = "hanging write"
OLD_CLIENT = 9
"""A Produce version whose partitions brokers do not add by themselves."""


def hang(lab: Lab, txn: Producer, *partitions: Partition, minutes: float = 0) -> Producer:
    """The producer has one record on each of these partitions that was never added; so many minutes old."""
    timestamp = lab.minutes_ago(minutes) if minutes else None
    with lab.admin.unverified():
        writes = [txn.produce(at, version=OLD_CLIENT, timestamp_ms=timestamp, as_=WRITE) for at in partitions]
    if any(write.error for write in writes) and lab.admin.config(partitions[0].leader, VERIFICATION) is None:
        raise OutOfReach(f"no transaction can be made to hang: an unadded write is refused without {VERIFICATION}")
    return txn


def hung(seen: Evidence, *aliases: str, moment: str = "hangs") -> None:
    """The writes were taken, and the partitions' last stable offset stood still at that moment.

    :raises NotSeen: When nothing hung.
    """
    stable = [seen.sample(f"{alias} {moment}") for alias in aliases]
    if any(write.error != 0 for write in seen.all(WRITE)):
        raise NotSeen("no transaction could be made to hang")
    if any(sample.last_stable_offset >= sample.high_watermark for sample in stable):
        raise NotSeen("nothing was open any more")


def look(lab: Lab, moment: str, *partitions: Partition) -> None:
    """Where readers of each partition stop now, as the sample ``<alias> <moment>``."""
    for partition in partitions:
        lab.sample(f"{partition.alias} {moment}", partition)
