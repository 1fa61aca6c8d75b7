"""KIP890-VERIFY-21-ADD: where the coordinator is too old to add, the leader refuses a write of the new protocol.

What is passed over for older clients (KIP890-VERIFY-21) must not be for newer ones, because nobody else adds their
partitions: «we can not ignore the add partitions calls for new clients … we should fail with an abortable error».
Clients obey the level of transaction.version and do not send such a write to such a cluster, but a broker goes by the
request's version (KIP890-FEAT-07).
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.doctored import abort, evidence, log, refused_write, sample, unsound
from harness.contract.refuters import Release
from harness.lab import Lab
from suites.contract.wishes import JUDGED, OLDER_BROKERS, WITHOUT_VERIFICATION


def stimulus(lab: Lab) -> None:
    """A write that should add its partition; where it was taken, it is added and aborted after all."""
    txn, partition = lab.producer(coordinator=WITHOUT_VERIFICATION), lab.partition("P1", leader=JUDGED)
    write = txn.produce(partition, version=12, as_="new write")
    lab.sample("after", partition)
    if write.error == 0:
        txn.add(partition)
        txn.end(commit=False)


def check(seen: Evidence) -> Observations:
    """Refused with the abortable error, and no transaction is open that the coordinator does not know."""
    write = seen["new write"]
    yield expect.refused(write, KafkaError.TRANSACTION_ABORTABLE, otherwise="unadded-write-accepted")
    yield expect.stable(seen.sample("after"), otherwise="hanging-transaction")
    yield from expect.sound(seen, "P1", (), markers=(), marked="marker-without-a-record")


GOOD = evidence(
    refused_write("new write", 12, KafkaError.TRANSACTION_ABORTABLE),
    samples=(sample("after", "P1", 0, 0),),
    logs={"P1": log()},
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-21-ADD",
    source=Source(890, "Old Servers"),
    statement="If the coordinator is too old to add, the leader refuses a write of the new protocol as abortable.",
    needs=(Offers("Produce", 12),),
    cluster=OLDER_BROKERS,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-write-accepted", GOOD.with_step("new write", error=0)),
        Refusal("wrong-error", GOOD.with_step("new write", error=KafkaError.INVALID_REQUEST)),
        Refusal("unanswered", GOOD.with_step("new write", error=None)),
        Refusal("hanging-transaction", GOOD.with_sample("after", high_watermark=1)),
        *unsound(GOOD),
        Refusal("marker-without-a-record", GOOD.with_log(truth=log(abort(7, 0)))),
    ),
    refuted_by=(
        Release(version="4.0.2", anomaly="unadded-write-accepted"),
        Release(version="4.1.2", anomaly="hanging-transaction"),
        Release(version="4.0.2", anomaly="marker-without-a-record"),
    ),
)
