"""KIP890-BUMP-05: what arrives after its transaction has ended must not enter the log of any of its partitions.

Records of two partitions lie on the producer's lane to their leader until the transaction is complete; its end goes
over another lane. Both versions are sent to both partitions: version 11 is verified and version 12 adds partitions, so
their ways to a refusal differ. Coordinator and leader each refuse them, and one would hide the other's failure; a batch
without the transactional flag, on a partition of its own, is no coordinator's business, so that its refusal is the
leader's own.

The KIP promises that such records are fenced. With which code, and that the leader fences by itself, is Kafka's habit.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman.leader_rules import EVERY_TRANSACTION_ONGOING, NO_CHECK_OF_DATA, NO_EPOCH_CHECK
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab, Partition

STALE = KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """A commit, then an abort of another producer's; more records for both partitions lie on the lane until then."""
    first = lab.partition("P1")
    partitions = (first, lab.partition("P2", leader=first.leader))
    plain = lab.partition("P3")
    for result in Result:
        _end_before_the_last_records(lab, result, partitions, plain)


def _end_before_the_last_records(
    lab: Lab, result: Result, partitions: tuple[Partition, Partition], plain: Partition
) -> None:
    txn = lab.producer(protocol=2)
    again = lab.same_id(txn.transactional_id, txn.coordinator, "rival", protocol=2, init=False)
    again.become(txn.producer_id, txn.epoch)
    txn.write(plain)
    for partition in partitions:
        txn.produce(partition, as_=f"write before {result.noun}")
    with lab.hold(txn.lane_to(partitions[0].leader), name=f"lane until {result.noun}") as held:
        versions = lab.offered("Produce", (11, 12))
        late = [txn.start_produce(partition, version=version) for version in versions for partition in partitions]
        again.end(commit=result.commits, as_=result.noun)
        lab.reached(again, result.completed, as_="ended")
        held.release()
        for request in late:
            request.answer(as_=f"late after {result.noun}")
    txn.produce(plain, sequence=0, transactional=False, as_=f"unverified after {result.noun}", retry=())
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"kept after {result.noun}")
    for partition in partitions:
        lab.observer.producers(partition, as_=f"producers of {partition.alias} after {result.noun}")


def check(seen: Evidence) -> Observations:
    """Each late produce, held past the end of its transaction, is refused as stale and leaves no trace."""
    for result in Result:
        end, kept = seen[result.noun], seen[f"kept after {result.noun}"]
        own, bumped = end.request_int("producer_id"), end.request_int("producer_epoch") + 1
        yield expect.accepted(end, otherwise="end-refused")
        for late in seen.all(f"late after {result.noun}"):
            expect.struck(seen, late, by=f"lane until {result.noun}", after=end)
            yield expect.refused(late, STALE, code=Level.SHOULD, otherwise="late-produce-accepted")
        unverified = seen[f"unverified after {result.noun}"]
        yield expect.habit(expect.refused(unverified, STALE, otherwise="leader-not-fencing"))
        yield expect.over(kept, otherwise="transaction-reopened")
        yield expect.keeps(kept, epoch=bumped, partitions=(), otherwise="transaction-reopened")
        for alias in ("P1", "P2"):
            leader = seen[f"producers of {alias} after {result.noun}"]
            yield expect.habit(expect.fenced(leader, own, bumped, otherwise="leader-not-fencing"))
    for alias in ("P1", "P2"):
        committed, aborted = (_values(seen, f"write before {result.noun}", alias) for result in Result)
        yield from expect.sound(
            seen, alias, (*committed, *aborted), committed=committed, appended="late-record-appended"
        )


def _values(seen: Evidence, name: str, alias: str) -> tuple[str, ...]:
    """What the accepted writes of this name put into the partition."""
    writes = [step for step in seen.all(name) if step.error == 0 and step.request["partitions"] == [alias]]
    return tuple(value for step in writes for value in step.written())


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
        Refusal("end-refused", GOOD.with_step("abort", error=KafkaError.PRODUCER_FENCED)),
        Refusal("leader-not-fencing", GOOD.with_step("unverified after commit", error=0)),
        Refusal("leader-not-fencing", GOOD.with_step("producers of P2 after abort", producers=[])),
        *(Refusal("late-produce-accepted", GOOD.with_step(f"late after {r.noun}", error=0)) for r in Result),
        Refusal("wrong-error", GOOD.with_step("late after commit", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("late after abort", error=None, answered=None)),
        Refusal("transaction-reopened", GOOD.with_step("kept after commit", state="Ongoing")),
        Refusal("transaction-reopened", GOOD.with_step("kept after abort", partitions=["P1"])),
        *unsound(GOOD, "P2", appended="late-record-appended"),
    ),
    refuted_by=(
        Failpoint(rules=NO_EPOCH_CHECK, anomaly="leader-not-fencing"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="late-produce-accepted"),
        Failpoint(rules=EVERY_TRANSACTION_ONGOING + NO_CHECK_OF_DATA, anomaly="late-record-appended"),
    ),
)
