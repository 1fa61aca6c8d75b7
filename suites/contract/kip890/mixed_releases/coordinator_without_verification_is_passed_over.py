"""KIP890-VERIFY-21: where the coordinator is too old to verify, the leader appends older clients' writes as before.

The KIP promises it («a no-op, we can just append as normal»), so that a rolling upgrade stops nobody. Here the leader
is of the judged release and the coordinator of 3.5.2, which does not offer AddPartitionsToTxn v4. Leaders of 3.6.2
asked with it all the same and got no answer (KAFKA-16692). The write goes before its add, which only a verification
could mind; the add and the commit after it end the transaction in good order.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.verification_rules import NO_PARTITION_VERIFIED
from harness.contract.doctored import (
    commit,
    data,
    ended,
    evidence,
    log,
    step,
    unsound,
    written,
)
from harness.contract.refuters import Failpoint, Release
from harness.lab import Lab
from suites.contract.wishes import JUDGED, OLDER_BROKERS, WITHOUT_VERIFICATION


def stimulus(lab: Lab) -> None:
    """For each version of an older client: write, add, write, commit."""
    txn, partition = lab.producer(coordinator=WITHOUT_VERIFICATION), lab.partition("P1", leader=JUDGED)
    for version in lab.offered("Produce", (9, 10, 11), JUDGED):
        txn.produce(partition, version=version, as_="unadded write")
        txn.add(partition, as_="add")
        txn.produce(partition, version=version, as_="added write")
        txn.end(commit=True, as_="end")
        lab.reached(txn, "CompleteCommit", as_="kept")


def check(seen: Evidence) -> Observations:
    """All is taken, and all is committed."""
    unadded, added = seen.all("unadded write"), seen.all("added write")
    for write in unadded:
        yield expect.accepted(write, otherwise="stopped-by-an-old-coordinator")
    for right in (*seen.all("add"), *added, *seen.all("end")):
        yield expect.accepted(right, otherwise="right-step-refused")
    values = [value for pair in zip(unadded, added, strict=True) for write in pair for value in write.written()]
    yield from expect.sound(seen, "P1", values, markers=(("COMMIT",),) * len(unadded))


GOOD = evidence(
    *(written("unadded write", version, value) for version, value in ((9, "a"), (11, "c"))),
    step("add", "AddPartitionsToTxn", 3),
    *(written("added write", version, value) for version, value in ((9, "b"), (11, "d"))),
    ended(version=3),
    logs={"P1": log(data(7, 0, "a", "b"), commit(7, 0), data(7, 0, "c", "d"), commit(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-21",
    source=Source(890, "Old Servers"),
    statement="If the coordinator is too old to verify, the leader appends as before.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    cluster=OLDER_BROKERS,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("stopped-by-an-old-coordinator", GOOD.with_step("unadded write", error=KafkaError.INVALID_TXN_STATE)),
        *(
            Refusal("right-step-refused", GOOD.with_step(name, error=KafkaError.INVALID_TXN_STATE))
            for name in ("add", "added write", "end")
        ),
        *unsound(GOOD),
        Refusal("wrong-markers", GOOD.with_log(truth=GOOD.log(), batches=GOOD.log().batches[:-1])),
    ),
    refuted_by=(
        Release(version="3.6.2", anomaly="stopped-by-an-old-coordinator"),
        Failpoint(rules=NO_PARTITION_VERIFIED, anomaly="stopped-by-an-old-coordinator"),
    ),
)
