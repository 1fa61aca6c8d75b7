"""KIP890-IMPL-02: the coordinator keeps the partition before the leader appends, so a failed append is ended too.

The append is made to fail by a record larger than the topic takes (MESSAGE_TOO_LARGE), which only the log can tell.
Were the order the other way round, a crash between append and add would leave a record that nobody ends.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    refused,
)
from harness.contract.byteman.coordinator_rules import ADD_NOT_KEPT
from harness.contract.doctored import abort, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

TOO_LARGE = 10
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


def check(seen: Evidence) -> Iterator[Observation]:
    """Not appended, yet kept by the coordinator, and ended with a marker."""
    writes = seen.all("failing write")
    for write, kept in zip(writes, seen.all("transaction"), strict=True):
        yield refused(write, TOO_LARGE, otherwise="oversized-write-accepted")
        yield agree("the state", kept.fields.get("state"), "Ongoing", write, kept, otherwise="transaction-not-ongoing")
        yield agree(
            "partitions", kept.fields.get("partitions"), ["P1"], write, kept, otherwise="partition-not-recorded"
        )
    promised = [("ABORT", write.request["producer_id"], 1) for write in writes]
    markers = [(marker.control, marker.producer_id, marker.producer_epoch) for marker in seen.log().markers()]
    yield agree("markers", markers, promised, *writes, otherwise="wrong-markers")
    yield agree("data records", seen.log().values(), (), *writes, otherwise="failed-record-appended")
    for end, completed in zip(seen.all("abort"), seen.all("completed"), strict=True):
        yield accepted(end, otherwise="abort-refused")
        yield agree("the state", completed.fields.get("state"), "CompleteAbort", completed, otherwise="never-completed")


GOOD = evidence(
    step("failing write", "Produce", 12, error=10, request={"producer_id": 7}),
    step("transaction", "DescribeTransactions", 0, state="Ongoing", partitions=["P1"]),
    step("abort", "EndTxn", 5),
    step("completed", "DescribeTransactions", 0, state="CompleteAbort"),
    logs={"P1": log(abort(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP890-IMPL-02",
    level=Level.MUST,
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="The coordinator has recorded the partition before the record is appended, also when the append fails.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("oversized-write-accepted", GOOD.with_step("failing write", error=0)),
        Refusal("wrong-error", GOOD.with_step("failing write", error=120)),
        Refusal("transaction-not-ongoing", GOOD.with_step("transaction", state="Empty")),
        Refusal("partition-not-recorded", GOOD.with_step("transaction", partitions=[])),
        Refusal("wrong-markers", GOOD.with_log("P1", log())),
        Refusal("failed-record-appended", GOOD.with_log("P1", log(data(7, 0, "a"), abort(7, 1)))),
        Refusal("abort-refused", GOOD.with_step("abort", error=48)),
        Refusal("never-completed", GOOD.with_step("completed", state="PrepareAbort")),
    ),
    refuted_by=(Failpoint(rules=ADD_NOT_KEPT, anomaly="partition-not-recorded"),),
)
