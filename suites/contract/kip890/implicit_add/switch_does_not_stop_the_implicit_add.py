"""KIP890-IMPL-08: switching verification off is for old clients; new clients' partitions are still added.

An old client's write without an add is the proof that the switch is off: it is accepted and the coordinator does not
know of it. It hangs, so an operator's marker ends it. Changes a broker setting for as long as the writes take.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
)
from harness.contract.byteman.verification_rules import NEW_CLIENT_TAKEN_FOR_OLD
from harness.contract.doctored import abort, commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence, NotSeen
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """With the switch off: new clients write and commit; an old client writes without an add."""
    added, unadded = lab.partition("P1"), lab.partition("P2")
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


def check(seen: Evidence) -> Iterator[Observation]:
    """The switch was off; new clients' partition is kept by the coordinator all the same, and committed."""
    if seen["old write"].error != 0:
        raise NotSeen("verification was not off: the old client's write without an add was refused")
    writes, kept_old = seen.all("write"), seen["old kept"].fields.get("partitions")
    for write, kept, end in zip(writes, seen.all("kept"), seen.all("commit"), strict=True):
        yield accepted(write, otherwise="implicit-add-refused")
        yield agree("the state", kept.fields.get("state"), "Ongoing", write, kept, otherwise="transaction-not-ongoing")
        yield agree("partitions", kept.fields.get("partitions"), ["P1"], write, kept, otherwise="partition-not-added")
        yield accepted(end, otherwise="commit-refused")
    yield agree("the old client's partitions", kept_old, [], seen["old write"], otherwise="old-client-added")
    yield agree("committed values", seen.log().committed, seen.log().values(), *writes, otherwise="commit-not-shown")
    yield agree("markers", len(seen.log().markers()), len(writes), *writes, otherwise="marker-missing")
    yield agree("LSO", seen.log().last_stable_offset, seen.log().high_watermark, *writes, otherwise="stuck-lso")


GOOD = evidence(
    step("write", "Produce", 12),
    step("kept", "DescribeTransactions", 0, state="Ongoing", partitions=["P1"]),
    step("commit", "EndTxn", 5),
    step("old write", "Produce", 11),
    step("old kept", "DescribeTransactions", 0, state="Empty", partitions=[]),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1)), "P2": log(data(8, 0, "b"), abort(8, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-IMPL-08",
    level=Level.MUST,
    source=Source(890, "Configurations: transaction.partition.verification.enable"),
    statement="Switching partition verification off does not turn off the implicit add of new clients.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("implicit-add-refused", GOOD.with_step("write", error=120)),
        Refusal("transaction-not-ongoing", GOOD.with_step("kept", state="Empty")),
        Refusal("partition-not-added", GOOD.with_step("kept", partitions=[])),
        Refusal("commit-refused", GOOD.with_step("commit", error=48)),
        Refusal("old-client-added", GOOD.with_step("old kept", partitions=["P2"])),
        Refusal("commit-not-shown", GOOD.with_log(committed=())),
        Refusal("marker-missing", GOOD.with_log(truth=log(data(7, 0, "a")), committed=("a",), last_stable_offset=1)),
        Refusal("stuck-lso", GOOD.with_log(last_stable_offset=0)),
    ),
    refuted_by=(Failpoint(rules=NEW_CLIENT_TAKEN_FOR_OLD, anomaly="partition-not-added"),),
    order=Order.CHANGES_SETTINGS,
)
