"""KIP890-IMPL-08: switching verification off is for old clients; new clients' partitions are still added.

An old client's write without an add is the proof that the switch is off: it is accepted and the coordinator does not
know of it. It hangs, so an operator's marker ends it. Changes a broker setting for as long as the writes take. Switch
and promise are the KIP's; that an unverified write is not added either is Kafka's.
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
from harness.contract.byteman.verification_rules import (
    NEW_CLIENT_TAKEN_FOR_OLD,
    OLD_CLIENT_TAKEN_FOR_NEW,
    SWITCH_ALWAYS_ON,
)
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, unsound, written
from harness.contract.refuters import VERIFICATION, Failpoint
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """With the switch off: new clients write and commit; an old client writes without an add."""
    added, unadded = lab.partition("P1"), lab.partition("P2")
    if lab.admin.config(added.leader, VERIFICATION) is None:
        raise OutOfReach(f"the brokers have no {VERIFICATION}")
    old = lab.producer("rival")
    with lab.admin.unverified():
        for version in lab.offered("Produce", (12, 13)):
            txn = lab.producer(protocol=2)
            txn.produce(added, version=version, as_="write")
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
            txn.end(commit=True, as_="commit")
        old.produce(unadded, version=11, as_="old write")
        lab.observer.transaction(old.transactional_id, old.coordinator, as_="old kept")
    lab.write_marker(unadded, producer_id=old.producer_id, epoch=old.epoch, commit=False, as_="marker")


def check(seen: Evidence) -> Observations:
    """The switch was off; new clients' partition is kept by the coordinator all the same, and committed."""
    if seen["old write"].error != 0:
        raise NotSeen("verification was not off: the old client's write without an add was refused")
    writes = seen.all("write")
    for write, kept, end in zip(writes, seen.all("kept"), seen.all("commit"), strict=True):
        yield expect.accepted(write, otherwise="implicit-add-refused")
        yield expect.keeps(kept, state="Ongoing", otherwise="transaction-not-ongoing")
        yield expect.keeps(kept, partitions=["P1"], otherwise="partition-not-added")
        yield expect.accepted(end, otherwise="commit-refused")
    yield expect.habit(expect.keeps(seen["old kept"], partitions=[], otherwise="old-client-added"))
    markers = len(writes) * [("COMMIT",)]
    yield from expect.sound(seen, markers=markers, shown="commit-not-shown", marked="marker-missing")


GOOD = evidence(
    written("write", 12, "a"),
    described("kept", "Ongoing", partitions=("P1",)),
    ended("commit"),
    written("old write", 11, "b", producer_id=8),
    described("old kept", "Empty", producer_id=8),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1)), "P2": log(data(8, 0, "b"), abort(8, 0))},
)
_UNMARKED = GOOD.with_log(truth=log(data(7, 0, "a")), committed=("a",), last_stable_offset=1)

REQUIREMENT = Requirement(
    id="KIP890-IMPL-08",
    source=Source(890, "Configurations: transaction.partition.verification.enable"),
    statement="Switching partition verification off does not turn off the implicit add of new clients.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("implicit-add-refused", GOOD.with_step("write", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("transaction-not-ongoing", GOOD.with_step("kept", state="Empty")),
        Refusal("partition-not-added", GOOD.with_step("kept", partitions=[])),
        Refusal("commit-refused", GOOD.with_step("commit", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("old-client-added", GOOD.with_step("old kept", partitions=["P2"])),
        Refusal("marker-missing", _UNMARKED),
        *unsound(GOOD, appended=None, shown="commit-not-shown"),
    ),
    refuted_by=(
        Failpoint(rules=NEW_CLIENT_TAKEN_FOR_OLD, anomaly="partition-not-added"),
        Failpoint(rules=SWITCH_ALWAYS_ON + OLD_CLIENT_TAKEN_FOR_NEW, anomaly="old-client-added"),
    ),
)
