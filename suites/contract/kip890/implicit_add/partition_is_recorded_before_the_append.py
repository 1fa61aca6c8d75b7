"""KIP890-IMPL-02: the coordinator keeps the partition before the leader appends, so a failed append is ended too.

The append is made to fail by a record larger than the topic takes (MESSAGE_TOO_LARGE), which only the log can tell.
Were the order the other way round, a crash between append and add would leave a record that nobody ends. The order is
the KIP's, and so are nothing appended and a marker wherever the coordinator recorded the partition. A leader may look
at the size first: that the add comes before, the code, and how an abort of nothing is answered are Kafka's.
"""

from harness.contract import (
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.coordinator_rules import ADD_NOT_KEPT
from harness.contract.byteman.leader_rules import EVERY_SIZE_TAKEN
from harness.contract.byteman.marker_rules import MARKERS_COMMIT
from harness.contract.doctored import abort, described, ended, evidence, log, refused_write, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Step
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
        lab.reached(txn, "CompleteAbort", "Empty", as_="completed")


def check(seen: Evidence) -> Observations:
    """Not appended; where kept by the coordinator, as Kafka does, ended with a marker."""
    writes, looks = seen.all("failing write"), seen.all("transaction")
    for write, kept in zip(writes, looks, strict=True):
        code = KafkaError.MESSAGE_TOO_LARGE
        yield expect.refused(write, code, otherwise="oversized-write-accepted", code=Level.SHOULD)
        yield expect.habit(expect.keeps(kept, partitions=["P1"], otherwise="partition-not-recorded"))
    yield from expect.sound(seen, "P1", (), appended="failed-record-appended")
    due = [write.request_int("producer_id") for write, kept in zip(writes, looks, strict=True) if recorded(kept)]
    ended = [marker.producer_id for marker in seen.log().markers() if marker.control == "ABORT"]
    missing = sorted(set(due) - set(ended))
    yield expect.agree("recorded and not ended by a marker", missing, [], *looks, otherwise="marker-missing")
    for end, completed in zip(seen.all("abort"), seen.all("completed"), strict=True):
        yield expect.habit(expect.accepted(end, otherwise="abort-refused"))
        yield expect.over(completed, otherwise="never-completed")


def recorded(kept: Step) -> bool:
    """Whether the coordinator kept a partition for the id."""
    return bool(kept.fields.get("partitions"))


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
    order=Order.ALONE,  # verifications of others beside it change the code (KIP890-VERIFY-17)
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("oversized-write-accepted", GOOD.with_step("failing write", error=0)),
        Refusal("wrong-error", GOOD.with_step("failing write", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("partition-not-recorded", GOOD.with_step("transaction", partitions=[])),
        Refusal("marker-missing", GOOD.with_log("P1", log())),
        *unsound(GOOD, appended="failed-record-appended"),
        Refusal("abort-refused", GOOD.with_step("abort", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("never-completed", GOOD.with_step("completed", state="PrepareAbort")),
    ),
    refuted_by=(
        Failpoint(rules=ADD_NOT_KEPT, anomaly="partition-not-recorded"),
        Liar(api="Produce", instead_of=KafkaError.MESSAGE_TOO_LARGE, error=0, anomaly="oversized-write-accepted"),
        Failpoint(rules=MARKERS_COMMIT, anomaly="marker-missing"),
        Failpoint(rules=EVERY_SIZE_TAKEN, anomaly="failed-record-appended"),
    ),
)
