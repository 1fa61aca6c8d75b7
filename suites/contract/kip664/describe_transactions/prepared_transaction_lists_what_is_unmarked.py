"""KIP664-DT-02: while markers are under way the state says so, and what still lacks its marker is among the partitions.

The transaction is ended while its marker to one partition is held; the other partition has its own already. An operator
who sees the partition here knows that the coordinator has not forgotten it (KIP-664, "Finding Hanging Transactions").
The KIP names the state ``PrepareCommit``; the name ``PrepareAbort``, and that a partition is taken out as soon as its
marker is acknowledged, are Kafka's (``TransactionMetadata.removePartition``).
"""

from harness.contract import Access, Evidence, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.looks_rules import NO_PARTITIONS_TOLD, NO_PARTITIONS_TOLD_WHILE_PREPARING, told_without
from harness.contract.byteman.transaction_metadata_rules import MARKED_PARTITIONS_KEPT
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab, Partition, Producer


def stimulus(lab: Lab) -> None:
    """A commit, then an abort, over a partition whose marker is held and one of the coordinator's own."""
    txn = lab.producer()
    slow = lab.partition("P1", leader=lab.another_broker(txn.coordinator))
    quick = lab.partition("P2", leader=txn.coordinator)
    for result in Result:
        txn.add(slow, quick)
        for partition in (slow, quick):
            txn.produce(partition, as_="write")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"before {result.noun}")
        with lab.preparing(txn, slow, commit=result.commits, name=f"held {result.noun}", as_=result.noun):
            wait_for_the_other_marker(lab, txn, slow)
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"during {result.noun}")
        lab.reached(txn, result.completed, as_=f"after {result.noun}")


def wait_for_the_other_marker(lab: Lab, txn: Producer, slow: Partition) -> None:
    """Bounded: until the coordinator keeps the slow partition alone; the check judges where it does not."""

    def alone() -> bool:
        look = lab.observer.transaction(txn.transactional_id, txn.coordinator)
        return look.fields.get("partitions") == [str(slow)]

    lab.patience.until(alone, kinds=("a marker beside one that is held",), timeout_seconds=3.0)


def check(seen: Evidence) -> Observations:
    """All partitions before the end; the unmarked one during it; none after it."""
    for result in Result:
        end, before, during = seen[result.noun], seen[f"before {result.noun}"], seen[f"during {result.noun}"]
        expect.prepared(seen, f"held {result.noun}", end=end)
        yield expect.accepted(end, otherwise="end-refused")
        yield expect.keeps(before, state="Ongoing", partitions=("P1", "P2"), otherwise="wrong-partitions-before")
        state = expect.keeps(during, state=result.prepared, otherwise="wrong-state-while-preparing")
        yield state if result.commits else expect.habit(state)
        listed = during.fields.get("partitions")
        unmarked = isinstance(listed, list) and "P1" in listed
        yield expect.unless(unmarked, "the unmarked one is listed", during, otherwise="unmarked-not-listed")
        if unmarked:
            yield expect.habit(expect.keeps(during, partitions=("P1",), otherwise="marked-still-listed"))
        after = seen[f"after {result.noun}"]
        yield expect.over(after)
        yield expect.keeps(after, partitions=(), otherwise="partitions-after-end")
    for alias in ("P1", "P2"):
        values = [value for write in expect.writes(seen, alias, "write") for value in write.written()]
        yield from expect.sound(seen, alias, values, committed=values[:1])


GOOD = adopted(__file__, "KIP664-DT-02")

REQUIREMENT = Requirement(
    id="KIP664-DT-02",
    source=Source(664, "DescribeTransactions"),
    statement="While markers are under way the partitions that lack theirs are described, in a state that says so.",
    needs=(Offers("DescribeTransactions", 0),),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("commit", error=48)),
        Refusal("wrong-partitions-before", GOOD.with_step("before abort", partitions=["P1"])),
        Refusal("wrong-state-while-preparing", GOOD.with_step("during commit", state="Ongoing")),
        Refusal("wrong-state-while-preparing", GOOD.with_step("during abort", state="CompleteAbort")),
        Refusal("unmarked-not-listed", GOOD.with_step("during commit", partitions=[])),
        Refusal("marked-still-listed", GOOD.with_step("during abort", partitions=["P1", "P2"])),
        Refusal("transaction-not-over", GOOD.with_step("after commit", state="PrepareCommit")),
        Refusal("partitions-after-end", GOOD.with_step("after abort", partitions=["P1"])),
        *unsound(GOOD, "P2"),
    ),
    refuted_by=(
        Failpoint(rules=NO_PARTITIONS_TOLD_WHILE_PREPARING, anomaly="unmarked-not-listed"),
        Failpoint(rules=told_without("TransactionState", '"Ongoing"'), anomaly="wrong-state-while-preparing"),
        Failpoint(rules=MARKED_PARTITIONS_KEPT, anomaly="marked-still-listed"),
        Failpoint(rules=NO_PARTITIONS_TOLD, anomaly="wrong-partitions-before"),
        Failpoint(rules=MARKED_PARTITIONS_KEPT, anomaly="partitions-after-end"),
    ),
)
