"""KIP890-MARK-02: a marker that is repeated when nothing is open any more is taken, also with transaction version 2.

A coordinator whose answer was lost, or that was elected after the marker was written, sends the same marker again; a
leader that refused it (KAFKA-19999, never released) would keep the transaction in PrepareCommit for ever, with the id
unusable. The repetition must change nothing for readers, and the next transaction goes on in the same epoch. That it is
written to the log once more is Kafka's way and not asked.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.marker_rules import REPEATED_MARKERS_REFUSED
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """By a commit and by an abort: a whole transaction, its marker again, twice; then another one is committed."""
    partition = lab.partition("P1")
    for result in TransactionResult:
        txn = lab.producer(protocol=2)
        txn.produce(partition, as_=f"write, {result.noun}")
        txn.end(commit=result.commits)
        lab.reached(txn, result.completed, "Empty", as_="over")
        for _ in range(2):
            lab.write_marker(
                partition,
                producer_id=txn.producer_id,
                epoch=txn.epoch,
                commit=result.commits,
                coordinator_epoch=lab.coordinator_epoch(txn) or 0,
                transaction_version=2,
                version=2,
                as_=f"repeated {result.noun}",
            )
        lab.sample(f"after repeated {result.noun}", partition)
        lab.observer.producers(partition, as_=f"kept, {result.noun}")
        txn.produce(partition, as_="next write")
        txn.end(commit=True, as_="next end")
        lab.settled()


def check(seen: Evidence) -> Observations:
    """Taken each time; nothing opens, readers are not held; what comes next is written and committed."""
    committed: list[str] = []
    every: list[str] = []
    for result, following, end in zip(TransactionResult, seen.all("next write"), seen.all("next end"), strict=True):
        write, kept = seen[f"write, {result.noun}"], seen[f"kept, {result.noun}"]
        for repeated in seen.all(f"repeated {result.noun}"):
            yield expect.accepted(repeated, otherwise="repeated-marker-refused")
        yield expect.stable(seen.sample(f"after repeated {result.noun}"))
        own, bumped = write.request_int("producer_id"), write.request_int("producer_epoch") + 1
        yield expect.habit(expect.fenced(kept, own, bumped, otherwise="wrong-producer-state"))
        yield expect.accepted(following, otherwise="next-write-refused")
        yield expect.accepted(end, otherwise="end-refused")
        every += [*write.written(), *following.written()]
        committed += [*(write.written() if result.commits else ()), *following.written()]
    yield from expect.sound(seen, values=every, committed=committed)


GOOD = adopted(__file__, "KIP890-MARK-02")

REQUIREMENT = Requirement(
    id="KIP890-MARK-02",
    source=Source(1228, "Transaction version in WriteTxnMarkers"),
    statement="A marker that comes again when nothing is open is taken and changes nothing.",
    needs=(Offers("WriteTxnMarkers", 2), Offers("EndTxn", 5), Offers("Produce", 12)),
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("repeated-marker-refused", GOOD.with_step("repeated abort", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("stuck-lso", GOOD.with_sample("after repeated commit", last_stable_offset=0)),
        Refusal("wrong-producer-state", GOOD.with_step("kept, commit", producers=[])),
        Refusal("next-write-refused", GOOD.with_step("next write", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("end-refused", GOOD.with_step("next end", error=KafkaError.PRODUCER_FENCED)),
        *unsound(GOOD),
    ),
    refuted_by=(Failpoint(rules=REPEATED_MARKERS_REFUSED, anomaly="repeated-marker-refused"),),
)
