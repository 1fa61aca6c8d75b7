"""KIP890-IMPL-01: a new client sends no AddPartitionsToTxn; its first Produce adds the partition and appends.

Three partitions in each transaction. All of it is the KIP's: that they were added is proven by the markers that the end
writes there and, where brokers can be asked, by what the coordinator keeps and what each leader has open.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import ADD_NOT_KEPT
from harness.contract.byteman.marker_rules import MARKERS_ABORT
from harness.contract.byteman.verification_rules import NEW_CLIENT_TAKEN_FOR_OLD
from harness.contract.doctored import commit, data, described, ended, evidence, known_producer, log, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

PARTITIONS = ("P1", "P2", "P3")


def stimulus(lab: Lab) -> None:
    """A fresh producer for each version writes to each partition at once, is looked at on both sides, and commits."""
    partitions = [lab.partition(alias) for alias in PARTITIONS]
    for version in lab.offered("Produce", (12, 13)):
        txn = lab.producer(protocol=2)
        for partition in partitions:
            txn.produce(partition, version=version, as_="first write")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="transaction")
        for partition in partitions:
            lab.observer.producers(partition, as_=f"producers {partition.alias}")
        txn.end(commit=True, as_="commit")


def check(seen: Evidence) -> Observations:
    """Accepted, kept by the coordinator, open on each leader from its own offset, ended by a marker and committed."""
    for kept, end in zip(seen.all("transaction"), seen.all("commit"), strict=True):
        yield expect.keeps(kept, state="Ongoing", otherwise="transaction-not-ongoing")
        yield expect.keeps(kept, partitions=PARTITIONS, otherwise="partition-not-added")
        yield expect.accepted(end, otherwise="commit-refused")
    for alias in PARTITIONS:
        writes = expect.writes(seen, alias, "first write")
        for write, leader in zip(writes, seen.all(f"producers {alias}"), strict=True):
            yield expect.accepted(write, otherwise="implicit-add-refused")
            if write.error == 0:
                own, first = write.request_int("producer_id"), write.answer_int("base_offset")
                yield expect.open_since(leader, own, first, otherwise="not-open-on-leader")
        values, markers = [value for write in writes for value in write.written()], len(writes) * [("COMMIT",)]
        yield from expect.sound(seen, alias, committed=values, markers=markers, shown="commit-not-shown")


GOOD = evidence(
    *(written("first write", 12, "a", to=alias) for alias in PARTITIONS),
    described("transaction", "Ongoing", partitions=("P3", "P1", "P2")),
    *(known_producer(f"producers {alias}", since=0) for alias in PARTITIONS),
    ended("commit"),
    logs={alias: log(data(7, 0, "a"), commit(7, 1)) for alias in PARTITIONS},
)
_UNMARKED = log(data(7, 0, "a"))

REQUIREMENT = Requirement(
    id="KIP890-IMPL-01",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="The first Produce v12 or newer to a partition adds it to the transaction and is appended.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    order=Order.ALONE,  # verifications of others beside it change the code (KIP890-VERIFY-17)
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("implicit-add-refused", GOOD.with_step("first write", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("transaction-not-ongoing", GOOD.with_step("transaction", state="Empty")),
        Refusal("partition-not-added", GOOD.with_step("transaction", partitions=["P1", "P2"])),
        Refusal("not-open-on-leader", GOOD.with_step("producers P2", fields=known_producer("", since=-1).fields)),
        Refusal("not-open-on-leader", GOOD.with_step("producers P3", producers=[])),
        Refusal("commit-refused", GOOD.with_step("commit", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-markers", GOOD.with_log("P2", _UNMARKED, committed=("a",), last_stable_offset=1)),
        *unsound(GOOD, "P3", appended=None, shown="commit-not-shown"),
    ),
    refuted_by=(
        Failpoint(rules=ADD_NOT_KEPT, anomaly="partition-not-added"),
        Failpoint(rules=NEW_CLIENT_TAKEN_FOR_OLD, anomaly="implicit-add-refused"),
        Liar(api="DescribeTransactions", fields={"transaction_state": "Empty"}, anomaly="transaction-not-ongoing"),
        Liar(api="DescribeProducers", fields={"current_txn_start_offset": -1}, anomaly="not-open-on-leader"),
        Failpoint(rules=MARKERS_ABORT, anomaly="commit-not-shown"),
    ),
)
