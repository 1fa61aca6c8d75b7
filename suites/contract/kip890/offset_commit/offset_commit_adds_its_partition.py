"""KIP890-TOC-02: a new client's TxnOffsetCommit adds the group's offsets partition to the transaction by itself.

One transaction commits its offset and the next one aborts its own; a second producer's transaction with an offset of
the same group stays open meanwhile and commits last, so that one transaction's end is not taken for the other's. While
one is open, its offset is not told to consumers that ask for stable ones (KIP-447). That the offsets are part of the
transaction shows in what its end does to them, and in its state. That DescribeTransactions lists the partition in which
they lie is Kafka's, which keeps them in one.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.group_rules import (
    ABORTED_OFFSETS_COUNT,
    COMMITTED_OFFSETS_ARE_LOST,
    NEW_OFFSETS_TAKEN_FOR_OLD,
    PENDING_OFFSETS_ARE_TOLD,
)
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED
from harness.contract.doctored import adopted, commit, data, log
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

OFFSETS = {Result.COMMIT: 7, Result.ABORT: 9}
OTHER = 11
UNSTABLE = KafkaError.UNSTABLE_OFFSET_COMMIT


def stimulus(lab: Lab) -> None:
    """Offsets alone are in these transactions: no record, and nothing that was added before."""
    partition, another, group, look = lab.partition("P1"), lab.partition("P2"), lab.group(), lab.observer
    other = lab.producer("rival", protocol=2)
    other.commit_offset(group, another, OTHER, as_="offset", version=5)
    for result, offset in OFFSETS.items():
        txn = lab.producer("victim", protocol=2)
        txn.commit_offset(group, partition, offset, as_="offset", version=5)
        look.transaction(txn.transactional_id, txn.coordinator, as_="open")
        look.committed_offset(group, partition, require_stable=True, as_="while open")
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="ended")
        look.committed_offset(group, partition, require_stable=True, as_=f"after {result.noun}", retry=(UNSTABLE,))
        look.committed_offset(group, another, require_stable=True, as_="while open")
    other.end(commit=True, as_="end")
    lab.reached(other, Result.COMMIT.completed, as_="ended")
    look.committed_offset(group, another, require_stable=True, as_="at the end", retry=(UNSTABLE,))


def check(seen: Evidence) -> Observations:
    """Accepted and listed; unstable while open; committed ones count and the aborted one does not."""
    for accepted in seen.all("offset"):
        yield expect.accepted(accepted, otherwise="offset-refused")
    for described in seen.all("open"):
        yield expect.keeps(described, state="Ongoing", otherwise="transaction-not-begun")
        yield expect.habit(expect.keeps(described, partitions=("offsets",), otherwise="partition-not-added"))
    for early in seen.all("while open"):
        yield expect.refused(early, UNSTABLE, otherwise="unstable-offset-told")
    for end, ended in zip(seen.all("end"), seen.all("ended"), strict=True):
        yield expect.accepted(end, otherwise="end-refused")
        yield expect.over(ended)
        if "offsets" in seen.logs:
            yield _marked(seen, end)
    committed = OFFSETS[Result.COMMIT]
    for name, offset in (("after commit", committed), ("after abort", committed), ("at the end", OTHER)):
        told = seen[name]
        yield expect.accepted(told, otherwise="offset-left-pending")
        if told.error == 0:
            yield expect.shows(told, offset=offset, otherwise="wrong-offset-committed")


def _marked(seen: Evidence, end: Step) -> expect.Observation:
    """What keeps the offsets has one batch of the transaction and one marker, in the next epoch."""
    own, epoch = end.request_int("producer_id"), end.request_int("producer_epoch")
    batches = [batch for batch in seen.log("offsets").batches if batch.producer_id == own]
    rows = [(batch.control, batch.producer_epoch) for batch in batches]
    promised = [(None, epoch), (Result.of(end.request["committed"]).marker, epoch + 1)]
    return expect.agree(f"batches of {own}", rows, promised, end, otherwise="wrong-markers")


GOOD = adopted(__file__, "KIP890-TOC-02")

REQUIREMENT = Requirement(
    id="KIP890-TOC-02",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="TxnOffsetCommit v5 adds the group's offsets partition to the transaction by itself.",
    needs=(Offers("TxnOffsetCommit", 5), Offers("EndTxn", 5), Offers("OffsetFetch", 7)),
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("offset-refused", GOOD.with_step("offset", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("transaction-not-begun", GOOD.with_step("open", state="Empty")),
        Refusal("partition-not-added", GOOD.with_step("open", partitions=[])),
        Refusal("unstable-offset-told", GOOD.with_step("while open", error=0, offset=7)),
        Refusal("wrong-error", GOOD.with_step("while open", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="PrepareCommit")),
        Refusal("wrong-markers", GOOD.with_log("offsets", log(data(7, 0), commit(7, 0)))),
        Refusal("offset-left-pending", GOOD.with_step("after abort", error=UNSTABLE, offset=-1)),
        Refusal("wrong-offset-committed", GOOD.with_step("after abort", offset=9)),
        Refusal("wrong-offset-committed", GOOD.with_step("after commit", offset=-1)),
    ),
    refuted_by=(
        Failpoint(rules=NEW_OFFSETS_TAKEN_FOR_OLD, anomaly="offset-refused"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="transaction-not-begun"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="partition-not-added"),
        Failpoint(rules=ABORTED_OFFSETS_COUNT, anomaly="wrong-offset-committed"),
        Failpoint(rules=COMMITTED_OFFSETS_ARE_LOST, anomaly="wrong-offset-committed"),
        Failpoint(rules=PENDING_OFFSETS_ARE_TOLD, anomaly="unstable-offset-told"),
    ),
)
