"""KIP890-IMPL-01: a new client sends no AddPartitionsToTxn; its first Produce adds the partition and appends.

Judged on both sides: the coordinator keeps the partition, the leader keeps the transaction open from that record on.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import ADD_NOT_KEPT
from harness.contract.byteman.verification_rules import NEW_CLIENT_TAKEN_FOR_OLD
from harness.contract.doctored import commit, data, described, ended, evidence, known_producer, log, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """A fresh producer for each version writes at once, is looked at on both sides, and commits."""
    partition = lab.partition("P1")
    for version in lab.offered("Produce", (12, 13)):
        txn = lab.producer(protocol=2)
        txn.produce(partition, version=version, as_="first write")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="transaction")
        lab.observer.producers(partition, as_="producers")
        txn.end(commit=True, as_="commit")


def check(seen: Evidence) -> Observations:
    """Accepted, kept by the coordinator, open on the leader from its own offset, and committed."""
    writes = seen.all("first write")
    for write, kept, leader in zip(writes, seen.all("transaction"), seen.all("producers"), strict=True):
        own, first = write.request_int("producer_id"), write.answer_int("base_offset")
        yield expect.accepted(write, otherwise="implicit-add-refused")
        yield expect.keeps(kept, state="Ongoing", otherwise="transaction-not-ongoing")
        yield expect.keeps(kept, partitions=["P1"], otherwise="partition-not-added")
        yield expect.open_since(leader, own, first, otherwise="not-open-on-leader")
    for end in seen.all("commit"):
        yield expect.accepted(end, otherwise="commit-refused")
    values = [value for write in writes for value in write.written()]
    yield from expect.sound(seen, committed=values, shown="commit-not-shown")


GOOD = evidence(
    written("first write", 12, "a"),
    described("transaction", "Ongoing", partitions=("P1",)),
    known_producer("producers", since=0),
    ended("commit"),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP890-IMPL-01",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="The first Produce v12 or newer to a partition adds it to the transaction and is appended.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("implicit-add-refused", GOOD.with_step("first write", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("transaction-not-ongoing", GOOD.with_step("transaction", state="Empty")),
        Refusal("partition-not-added", GOOD.with_step("transaction", partitions=[])),
        Refusal("not-open-on-leader", GOOD.with_step("producers", fields=known_producer("", since=-1).fields)),
        Refusal("not-open-on-leader", GOOD.with_step("producers", producers=[])),
        Refusal("commit-refused", GOOD.with_step("commit", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, appended=None, shown="commit-not-shown"),
    ),
    refuted_by=(
        Failpoint(rules=ADD_NOT_KEPT, anomaly="partition-not-added"),
        Failpoint(rules=NEW_CLIENT_TAKEN_FOR_OLD, anomaly="implicit-add-refused"),
    ),
)
