"""KIP890-IMPL-02: the coordinator keeps the partition before the leader appends, so a failed append is ended too.

The append is made to fail by a record larger than the topic takes (MESSAGE_TOO_LARGE), which only the log can tell.
Were the order the other way round, a crash between append and add would leave a record that nobody ends.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import ADD_NOT_KEPT
from harness.contract.doctored import abort, described, ended, evidence, log, refused_write, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

SMALL = {"max.message.bytes": "128"}
"""Room for a marker (78 bytes), none for the record."""
RECORD = "too large " * 20


def stimulus(lab: Lab) -> None:
    """A transaction's only write is too large for the leader's log; then it is aborted."""
    partition = lab.partition("P1", configs=SMALL)
    for version in lab.offered("Produce", (12, 13)):
        txn = lab.producer(protocol=2)
        txn.produce(partition, version=version, values=(RECORD,), as_="failing write")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="transaction")
        txn.end(commit=False, as_="abort")
        lab.reached(txn, "CompleteAbort", as_="completed")


def check(seen: Evidence) -> Observations:
    """Not appended, yet kept by the coordinator, and ended with a marker."""
    writes = seen.all("failing write")
    for write, kept in zip(writes, seen.all("transaction"), strict=True):
        yield expect.refused(write, KafkaError.MESSAGE_TOO_LARGE, otherwise="oversized-write-accepted")
        yield expect.keeps(kept, state="Ongoing", otherwise="transaction-not-ongoing")
        yield expect.keeps(kept, partitions=["P1"], otherwise="partition-not-recorded")
    markers = [("ABORT", 1, write.request_int("producer_id")) for write in writes]
    yield from expect.sound(seen, "P1", (), markers=markers, appended="failed-record-appended")
    for end, completed in zip(seen.all("abort"), seen.all("completed"), strict=True):
        yield expect.accepted(end, otherwise="abort-refused")
        yield expect.keeps(completed, state="CompleteAbort", otherwise="never-completed")


GOOD = evidence(
    refused_write("failing write", 12, KafkaError.MESSAGE_TOO_LARGE),
    described("transaction", "Ongoing", partitions=("P1",)),
    ended("abort", committed=False),
    described("completed", "CompleteAbort", epoch=1),
    logs={"P1": log(abort(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP890-IMPL-02",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="The coordinator has recorded the partition before the record is appended, also when the append fails.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("oversized-write-accepted", GOOD.with_step("failing write", error=0)),
        Refusal("wrong-error", GOOD.with_step("failing write", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("transaction-not-ongoing", GOOD.with_step("transaction", state="Empty")),
        Refusal("partition-not-recorded", GOOD.with_step("transaction", partitions=[])),
        Refusal("wrong-markers", GOOD.with_log("P1", log())),
        *unsound(GOOD, appended="failed-record-appended"),
        Refusal("abort-refused", GOOD.with_step("abort", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("never-completed", GOOD.with_step("completed", state="PrepareAbort")),
    ),
    refuted_by=(Failpoint(rules=ADD_NOT_KEPT, anomaly="partition-not-recorded"),),
)
