"""KIP890-VERIFY-10: while the last transaction is being ended, an older client's write gets an error it can retry.

A partition whose marker is written may take the next transaction's write before the coordinator is done with the other
partitions. The coordinator's CONCURRENT_TRANSACTIONS would be fatal for older clients; NOT_ENOUGH_REPLICAS is not.
"""

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
from harness.contract.byteman.verification_rules import OLD_CLIENT_TAKEN_FOR_NEW
from harness.contract.doctored import commit, data, ended, evidence, log, refused_write, sample, step, unsound, written
from harness.contract.refuters import VERIFICATION, Failpoint, Release, Setting
from harness.contract.version_tables import unverified_message
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab

EARLY = KafkaError.NOT_ENOUGH_REPLICAS
MESSAGE = unverified_message(KafkaError.CONCURRENT_TRANSACTIONS)


def stimulus(lab: Lab) -> None:
    """The marker for one partition is held between the brokers; the next write goes to the other partition."""
    txn, slow, quick = lab.producer("victim"), lab.partition("slow"), lab.partition("quick")
    txn.add(slow, quick)
    txn.produce(slow)
    txn.produce(quick, as_="write before")
    with lab.hold(lab.link(txn.coordinator, slow.leader), name="marker") as held:
        txn.end(commit=True)
        lab.completed(quick)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="transaction while held")
        for version in lab.offered("Produce", (9, 11)):
            txn.produce(quick, as_="early write", version=version, retry=())
        lab.sample("held", slow)
        held.release()
        lab.reached(txn, "CompleteCommit", as_="transaction after")
    txn.add(quick, as_="add again")
    txn.produce(quick, as_="write again")
    txn.end(commit=True, as_="end again")


def check(seen: Evidence) -> Observations:
    """Refused as retriable with the reason while the marker is held; after it, the same write is committed."""
    held = seen.sample("held")
    if held.last_stable_offset >= held.high_watermark:
        raise NotSeen("the marker was not held: nothing was open on its partition")
    for early in seen.all("early write"):
        yield expect.refused(early, EARLY, otherwise="early-write-accepted", message=MESSAGE)
    for name in ("add again", "write again", "end again"):
        yield expect.accepted(seen[name], otherwise="retry-refused")
    values = seen["write before"].written() + seen["write again"].written()
    yield from expect.sound(
        seen,
        "quick",
        values,
        appended="early-record-appended",
        shown="committed-view-differs",
        stuck="hanging-transaction",
    )


GOOD = evidence(
    written("write before", 11, "a"),
    *(refused_write("early write", version, EARLY, error_message=MESSAGE) for version in (9, 11)),
    step("add again", "AddPartitionsToTxn", 3),
    written("write again", 11, "b"),
    ended("end again", version=4),
    logs={"quick": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), commit(7, 0))},
    held=("marker",),
    samples=(sample("held", "slow", 1, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-10",
    source=Source(890, "Old Clients / Produce Requests (NOT_ENOUGH_REPLICAS)"),
    statement="While the coordinator is ending the last transaction, an older client's write gets a retriable error.",
    needs=(Offers("Produce", 9),),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("early-write-accepted", GOOD.with_step("early write", error=0)),
        Refusal("wrong-error", GOOD.with_step("early write", error=KafkaError.CONCURRENT_TRANSACTIONS)),
        Refusal("no-message", GOOD.with_step("early write", error_message=None)),
        Refusal("wrong-message", GOOD.with_step("early write", error_message="another text")),
        Refusal("unanswered", GOOD.with_step("early write", error=None)),
        Refusal("retry-refused", GOOD.with_step("write again", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(
            GOOD, "quick", appended="early-record-appended", shown="committed-view-differs", stuck="hanging-transaction"
        ),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="early-write-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="early-record-appended"),
        Failpoint(rules=OLD_CLIENT_TAKEN_FOR_NEW, anomaly="wrong-error"),
    ),
)
