"""KIP890-VERIFY-10: while the last transaction is being ended, an older client's write gets an error it can retry.

A partition whose marker is written may take the next transaction's write before the coordinator is done with the other
partitions. The coordinator's CONCURRENT_TRANSACTIONS would be fatal for older clients; NOT_ENOUGH_REPLICAS is not.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Order,
    Refusal,
    Release,
    Requirement,
    Setting,
    Source,
    accepted,
    agree,
    refused,
)
from harness.contract.byteman.verification_rules import OLD_CLIENT_TAKEN_FOR_NEW
from harness.contract.doctored import commit, data, evidence, held_link, log, sample, step
from harness.evidence.requirement_evidence import Evidence, NotSeen
from harness.lab import Lab

VERSIONS = (9, 11)
MESSAGE = "Unable to verify the partition has been added to the transaction. Underlying error: CONCURRENT_TRANSACTIONS"


def stimulus(lab: Lab) -> None:
    """The marker for one partition lies on the link between brokers; the next write goes to the other partition."""
    txn, slow, quick = lab.producer("victim"), lab.partition("slow"), lab.partition("quick")
    txn.add(slow, quick)
    txn.produce(slow)
    txn.produce(quick, as_="write before")
    with lab.hold(lab.link(txn.coordinator, slow.leader), name="marker") as held:
        txn.end(commit=True)
        lab.completed(quick)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="transaction while held")
        for version in lab.offered("Produce", VERSIONS):
            txn.produce(quick, as_="early write", version=version, retry=())
        lab.sample("held", slow)
        held.release()
        lab.reached(txn, "CompleteCommit", as_="transaction after")
    txn.add(quick, as_="add again")
    txn.produce(quick, as_="write again")
    txn.end(commit=True, as_="end again")


def check(seen: Evidence) -> Iterator[Observation]:
    """Refused with 19 and the coordinator's words while the marker is held; after it, the same write is committed."""
    held = seen.sample("held")
    if held.last_stable_offset >= held.high_watermark:
        raise NotSeen("the marker was not held: nothing was open on its partition")
    for early in seen.all("early write"):
        yield refused(early, 19, otherwise="early-write-accepted", message=MESSAGE)
    for step_ in (seen["add again"], seen["write again"], seen["end again"]):
        yield accepted(step_, otherwise="retry-refused")
    truth, written = seen.log("quick"), seen["write before"].written() + seen["write again"].written()
    yield agree("values in the log", truth.values(), written, otherwise="early-record-appended")
    yield agree("committed values", truth.committed, written, otherwise="committed-view-differs")
    yield agree("last stable offset", truth.last_stable_offset, truth.high_watermark, otherwise="hanging-transaction")


GOOD = evidence(
    step("write before", "Produce", 11, request={"values": ["a"]}),
    step("early write", "Produce", 9, error=19, error_message=MESSAGE),
    step("early write", "Produce", 11, error=19, error_message=MESSAGE),
    step("add again", "AddPartitionsToTxn", 3),
    step("write again", "Produce", 11, request={"values": ["b"]}),
    step("end again", "EndTxn", 4),
    logs={"quick": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), commit(7, 0))},
    faults=(held_link("marker"),),
    samples=(sample("held", "slow", 1, 0),),
)
HANGING = log(data(7, 0, "a"), commit(7, 0), data(7, 0, "early"), data(7, 0, "b"), commit(7, 0))

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-10",
    level=Level.MUST,
    source=Source(890, "Old Clients / Produce Requests (NOT_ENOUGH_REPLICAS)"),
    statement="While the coordinator is ending the last transaction, an older client's write gets a retriable error.",
    needs=(Offers("Produce", 9),),
    order=Order.HOLDS_LINKS,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("early-write-accepted", GOOD.with_step("early write", error=0)),
        Refusal("wrong-error", GOOD.with_step("early write", error=51)),
        Refusal("wrong-message", GOOD.with_step("early write", error_message=None)),
        Refusal("unanswered", GOOD.with_step("early write", error=None)),
        Refusal("retry-refused", GOOD.with_step("write again", error=48)),
        Refusal("early-record-appended", GOOD.with_log("quick", HANGING, committed=("a", "b"))),
        Refusal("committed-view-differs", GOOD.with_log("quick", committed=("a",))),
        Refusal("hanging-transaction", GOOD.with_log("quick", last_stable_offset=2)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="early-write-accepted"),
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="early-record-appended"),
        Failpoint(rules=OLD_CLIENT_TAKEN_FOR_NEW, anomaly="wrong-error"),
    ),
)
