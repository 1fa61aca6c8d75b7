"""KIP890-TOC-09: the switch that turns verification off does so for offset commits too.

The same commit, in a transaction to which the group was not added, is refused with the switch on and accepted with it
off. It then stays pending, because no transaction's end brings its partition a marker: consumers that ask for stable
offsets are kept waiting (KIP-447) until an operator writes the marker (KIP-664). The offset itself never counts.

The KIP speaks of verification as one thing; that the switch does for offsets what it does for records is its promise.
"""

from harness.base.unprepared import OutOfReach
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.group_rules import (
    ABORTED_OFFSETS_COUNT,
    OLD_OFFSETS_TAKEN_FOR_NEW,
    PENDING_OFFSETS_ARE_TOLD,
)
from harness.contract.byteman.verification_rules import SWITCH_ALWAYS_ON, SWITCH_NOT_OBEYED
from harness.contract.doctored import abort, data, described, evidence, log, step
from harness.contract.refuters import VERIFICATION, Failpoint, Release
from harness.contract.version_tables import unadded_offset
from harness.lab import Lab

UNSTABLE = KafkaError.UNSTABLE_OFFSET_COMMIT


def stimulus(lab: Lab) -> None:
    """With the switch on, then off, at every old version; then the operator's marker."""
    txn, free, partition, group = lab.producer("victim"), lab.producer("rival"), lab.partition("P1"), lab.group()
    if lab.admin.config(group.offsets.leader, VERIFICATION) is None or not group.offsets.known:
        raise OutOfReach(f"the brokers have no {VERIFICATION}, or do not keep offsets in a topic")
    versions = lab.offered("TxnOffsetCommit", range(5))
    for version in versions:
        txn.commit_offset(group, partition, 7, version=version, as_="with the switch on")
    with lab.admin.unverified():
        for version in versions:
            free.commit_offset(group, partition, 9, version=version, as_="with the switch off")
        lab.observer.transaction(free.transactional_id, free.coordinator, as_="coordinator")
        lab.observer.committed_offset(group, partition, require_stable=True, as_="pending")
    lab.write_marker(group.offsets, producer_id=free.producer_id, epoch=free.epoch, commit=False, as_="marker")
    lab.observer.committed_offset(group, partition, require_stable=True, as_="after the marker", retry=(UNSTABLE,))


def check(seen: Evidence) -> Observations:
    """Refused, accepted, pending, and free again."""
    for guarded in seen.all("with the switch on"):
        refused = unadded_offset(guarded.version)
        yield expect.refused(guarded, refused, also=(KafkaError.INVALID_TXN_STATE,), otherwise="never-verified")
    for free in seen.all("with the switch off"):
        yield expect.accepted(free, otherwise="verified-all-the-same")
    yield expect.keeps(seen["coordinator"], partitions=(), otherwise="added-in-secret")
    yield expect.refused(seen["pending"], UNSTABLE, otherwise="pending-offset-told")
    yield expect.accepted(seen["marker"], otherwise="marker-refused")
    after = seen["after the marker"]
    yield expect.accepted(after, otherwise="offset-left-pending")
    if after.error == 0:
        yield expect.shows(after, offset=-1, otherwise="aborted-offset-told")
    yield expect.marks(seen, "offsets", ("ABORT",))


GOOD = evidence(
    *(step("with the switch on", "TxnOffsetCommit", v, error=unadded_offset(v)) for v in (3, 4)),
    *(step("with the switch off", "TxnOffsetCommit", v) for v in (3, 4)),
    described("coordinator", "Empty"),
    step("pending", "OffsetFetch", 9, error=UNSTABLE, offset=-1),
    step("marker", "WriteTxnMarkers", 1),
    step("after the marker", "OffsetFetch", 9, offset=-1),
    logs={"offsets": log(data(8, 0), data(8, 0), abort(8, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-TOC-09",
    source=Source(890, "Configurations"),
    statement="The switch that turns verification off does so for offset commits too.",
    needs=(Offers("TxnOffsetCommit", 3), Offers("OffsetFetch", 7), Offers("WriteTxnMarkers", 1)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("never-verified", GOOD.with_step("with the switch on", error=0)),
        Refusal("wrong-error", GOOD.with_step("with the switch on", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("verified-all-the-same", GOOD.with_step("with the switch off", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("added-in-secret", GOOD.with_step("coordinator", state="Ongoing", partitions=["offsets"])),
        Refusal("pending-offset-told", GOOD.with_step("pending", error=0)),
        Refusal("marker-refused", GOOD.with_step("marker", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("offset-left-pending", GOOD.with_step("after the marker", error=UNSTABLE)),
        Refusal("aborted-offset-told", GOOD.with_step("after the marker", offset=9)),
        Refusal("wrong-markers", GOOD.with_log("offsets", log(data(8, 0)))),
    ),
    refuted_by=(
        Release(version="3.6.2", anomaly="never-verified"),
        Failpoint(rules=SWITCH_NOT_OBEYED, anomaly="verified-all-the-same"),
        Failpoint(rules=PENDING_OFFSETS_ARE_TOLD, anomaly="pending-offset-told"),
        Failpoint(rules=ABORTED_OFFSETS_COUNT, anomaly="aborted-offset-told"),
        Failpoint(rules=SWITCH_ALWAYS_ON + OLD_OFFSETS_TAKEN_FOR_NEW, anomaly="added-in-secret"),
    ),
)
