"""KIP890-VERIFY-11: while nobody coordinates the transactional id, the client's write gets an error it can retry.

The id's partition of ``__transaction_state`` has one replica, and that broker is killed and fenced, so the partition
has no leader. That nothing is written unverified, and that trouble with coordinators is no fatal error, are the KIP's;
the code NOT_ENOUGH_REPLICAS for it and the message are Kafka's. When the broker is back, the same transaction goes on.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.doctored import commit, data, ended, evidence, log, refused_write, sample, unsound, written
from harness.contract.refuters import VERIFICATION, Release, Setting
from harness.contract.version_tables import unverified_message
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab
from suites.contract.wishes import SOLE_COORDINATORS

RETRIABLE = KafkaError.NOT_ENOUGH_REPLICAS
MESSAGE = unverified_message(KafkaError.COORDINATOR_NOT_AVAILABLE)
ALLOWED = tuple(error for error in KafkaError if error.retriable)
APPENDED, HIDDEN, HANGING = "unverified-record-appended", "committed-view-differs", "hanging-transaction"


def stimulus(lab: Lab) -> None:
    """Added, then the coordinator dies; a write meanwhile; when it is back, the write again, and a commit."""
    partition, first = lab.partition("P1"), lab.producer("victim")
    versions = lab.offered("Produce", (9, 11))
    others = [lab.producer("victim", coordinator=first.coordinator) for _ in versions[1:]]
    txns = list(zip(versions, (first, *others), strict=True))
    for _, txn in txns:
        txn.add(partition)
    with lab.nodes.killed(first.coordinator, name="killed"):
        lab.nodes.await_fenced(first.coordinator)
        for version, txn in txns:
            txn.produce(partition, as_="unverified write", version=version, retry=())
        lab.sample("no coordinator", partition)
    for version, txn in txns:
        txn.produce(partition, as_="write again", version=version)
        txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Refused as retriable with the reason, nothing appended; with the coordinator back, the write is committed."""
    killed = seen.fault("killed")
    for write in seen.all("unverified write"):
        if write.sent > killed.ended:
            raise NotSeen("the coordinator was back before the write")
        yield expect.refused(write, RETRIABLE, otherwise="unverified-write-accepted", also=ALLOWED)
        if write.error == RETRIABLE:
            yield expect.habit(expect.explained(write, MESSAGE))
    yield expect.stable(seen.sample("no coordinator"), otherwise=APPENDED)
    again = seen.all("write again")
    for mended in (*again, *seen.all("end")):
        yield expect.accepted(mended, otherwise="retry-refused")
    values = [value for write in again for value in write.written()]
    yield from expect.sound(seen, "P1", values, appended=APPENDED, shown=HIDDEN, stuck=HANGING)


GOOD = evidence(
    refused_write("unverified write", 9, RETRIABLE, error_message=MESSAGE),
    written("write again", 9, "a"),
    ended(version=4),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
    faults=(Fault(name="killed", kind="kill", where="broker-1", started=0.0, ended=50.0),),
    samples=(sample("no coordinator", "P1", 0, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-11",
    source=Source(890, "Old Clients / Produce Requests (NOT_ENOUGH_REPLICAS)"),
    statement="A write that cannot be verified because nobody coordinates its id gets a retriable error.",
    needs=(Offers("Produce", 9),),
    order=Order.HURTS_CLUSTER,
    access=(Access.NODES,),
    cluster=SOLE_COORDINATORS,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unverified-write-accepted", GOOD.with_step("unverified write", error=0)),
        Refusal("wrong-error", GOOD.with_step("unverified write", error=KafkaError.COORDINATOR_NOT_AVAILABLE)),
        Refusal("wrong-error", GOOD.with_step("unverified write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("no-message", GOOD.with_step("unverified write", error_message=None)),
        Refusal("wrong-message", GOOD.with_step("unverified write", error_message="another text")),
        Refusal("unanswered", GOOD.with_step("unverified write", error=None, answered=None)),
        Refusal(APPENDED, GOOD.with_sample("no coordinator", high_watermark=1)),
        Refusal("retry-refused", GOOD.with_step("write again", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("retry-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, appended=APPENDED, shown=HIDDEN, stuck=HANGING),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unverified-write-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="unverified-write-accepted"),
    ),
)
