"""KIP890-BUMP-05: what arrives after its transaction has ended must not enter the log of any of its partitions.

Records of two partitions lie on the producer's lane to their leader until the transaction is complete. Both versions
are sent to both partitions: version 11 is verified and version 12 adds partitions, so their ways to a refusal differ.
Coordinator and leader each refuse them, and one would hide the other's failure; a batch without the transactional flag
is no coordinator's business, so that its refusal is the leader's own.
"""

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import EVERY_TRANSACTION_ONGOING, NO_CHECK_OF_DATA, NO_EPOCH_CHECK
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

STALE = KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """A transaction writes to two partitions and ends; more records for both lie on the link until it is complete."""
    txn = lab.producer(protocol=2)
    first, epoch = lab.partition("P1"), txn.epoch
    partitions = (first, lab.partition("P2", leader=first.leader))
    for partition in partitions:
        txn.write(partition)
    lab.sample("open")
    with lab.hold(txn.lane_to(first.leader), name="lane") as held:
        versions = lab.offered("Produce", (11, 12))
        late = [txn.start_produce(partition, version=version) for version in versions for partition in partitions]
        txn.end(commit=True, as_="end")
        lab.reached(txn, "CompleteCommit", as_="ended")
        lab.sample("ended")
        held.release()
        for request in late:
            request.answer(as_="late produce")
    txn.produce(first, epoch=epoch, sequence=0, transactional=False, as_="late, unverified", retry=())
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    for partition in partitions:
        lab.observer.producers(partition, as_=f"producers of {partition.alias}")
    lab.sample("released")


def check(seen: Evidence) -> Observations:
    """Each late produce, held past the end of its transaction, is refused as stale and leaves no trace."""
    end = seen["end"]
    own, bumped = end.request_int("producer_id"), end.request_int("producer_epoch") + 1
    yield expect.accepted(end, otherwise="end-refused")
    for late in seen.all("late produce"):
        expect.struck(seen, late, by="lane", after=end)
        yield expect.refused(late, STALE, otherwise="late-produce-accepted")
    yield expect.refused(seen["late, unverified"], STALE, otherwise="leader-not-fencing")
    kept = seen["kept"]
    yield expect.keeps(kept, state="CompleteCommit", epoch=bumped, partitions=(), otherwise="transaction-reopened")
    for alias in ("P1", "P2"):
        values = seen.log(alias).values()
        yield expect.agree(f"data records in {alias}", len(values), 1, otherwise="late-record-appended")
        yield from expect.sound(seen, alias, committed=values[:1])
        yield expect.fenced(seen[f"producers of {alias}"], own, bumped, otherwise="leader-not-fencing")


GOOD = adopted(__file__, "KIP890-BUMP-05")

REQUIREMENT = Requirement(
    id="KIP890-BUMP-05",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A record of the finished transaction that arrives late is refused on every partition of it.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    access=(Access.LANES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("leader-not-fencing", GOOD.with_step("late, unverified", error=0)),
        Refusal("late-produce-accepted", GOOD.with_step("late produce", error=0)),
        Refusal("wrong-error", GOOD.with_step("late produce", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("late produce", error=None, answered=None)),
        Refusal("transaction-reopened", GOOD.with_step("kept", state="Ongoing", partitions=["P1"])),
        *unsound(GOOD, "P2", appended="late-record-appended"),
        Refusal("leader-not-fencing", GOOD.with_step("producers of P2", producers=[])),
    ),
    refuted_by=(
        Failpoint(rules=NO_EPOCH_CHECK, anomaly="leader-not-fencing"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="late-produce-accepted"),
        Failpoint(rules=EVERY_TRANSACTION_ONGOING + NO_CHECK_OF_DATA, anomaly="late-record-appended"),
    ),
)
