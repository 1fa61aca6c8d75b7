"""KIP890-MARK-01: with transaction version 2 a marker of an earlier transaction cannot end the next one.

A new client's transaction is written in epoch e and marked in e+1, in which the next one is written. A marker in e+1
that comes late (a coordinator that sends again, an old one that wakes up) would end that next transaction where an
equal epoch is enough, as KIP-890 first had it. KIP-1228 gives the request the transaction version (v2, Kafka 4.2;
KAFKA-19446): with 2, a marker must be newer than what is open. Tried with commit and abort. The code is Kafka's.
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
    TransactionResult,
    expect,
)
from harness.contract.byteman.leader_rules import NO_EPOCH_CHECK
from harness.contract.byteman.marker_rules import MARKERS_OF_ANY_VERSION_ARE_OLD
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab, Partition, Producer

STALE = KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """A committed transaction, the next is open; its predecessor's marker, both kinds; then the client's own end."""
    partition, txn = lab.partition("P1"), lab.producer(protocol=2)
    txn.produce(partition, as_="first write")
    txn.end(commit=True)
    lab.reached(txn, "CompleteCommit", "Empty", as_="first over")
    txn.produce(partition, as_="second write")
    lab.sample("before", partition)
    for result in TransactionResult:
        late_marker(lab, txn, partition, result)
    txn.end(commit=True, as_="end")
    lab.reached(txn, "CompleteCommit", "Empty", as_="ended")


def late_marker(lab: Lab, txn: Producer, partition: Partition, result: TransactionResult) -> None:
    """The marker that ended the first transaction: in the epoch in which the second is written."""
    lab.write_marker(
        partition,
        producer_id=txn.producer_id,
        epoch=txn.epoch,
        commit=result.commits,
        coordinator_epoch=lab.coordinator_epoch(txn) or 0,
        transaction_version=2,
        version=2,
        as_=f"late {result.noun}",
    )
    lab.sample(f"after late {result.noun}", partition)
    lab.observer.producers(partition, as_=f"kept after {result.noun}")


def check(seen: Evidence) -> Observations:
    """Refused; the second transaction is open since its first record as before, and is committed by its client."""
    before, write = seen.sample("before"), seen["second write"]
    if before.last_stable_offset >= before.high_watermark:
        raise NotSeen("the second transaction was not open")
    own, since = write.request_int("producer_id"), write.answer_int("base_offset")
    for result in TransactionResult:
        late = seen[f"late {result.noun}"]
        yield expect.refused(late, STALE, code=Level.SHOULD, otherwise="late-marker-taken")
        yield expect.unstable(seen.sample(f"after late {result.noun}"), late, otherwise="next-transaction-ended")
        yield expect.open_since(seen[f"kept after {result.noun}"], own, since, otherwise="next-transaction-ended")
    yield expect.accepted(seen["end"], otherwise="end-refused")
    yield expect.over(seen["ended"])
    values = [*seen["first write"].written(), *write.written()]
    yield from expect.sound(seen, values=values, markers=(("COMMIT",), ("COMMIT",)), shown="committed-record-lost")


GOOD = adopted(__file__, "KIP890-MARK-01")

REQUIREMENT = Requirement(
    id="KIP890-MARK-01",
    source=Source(1228, "Transaction version in WriteTxnMarkers"),
    statement="With transaction version 2 a marker in the epoch of what is open is refused.",
    needs=(Offers("WriteTxnMarkers", 2), Offers("EndTxn", 5), Offers("Produce", 12)),
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("late-marker-taken", GOOD.with_step("late abort", error=0)),
        Refusal("wrong-error", GOOD.with_step("late commit", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("late commit", error=None)),
        Refusal("next-transaction-ended", GOOD.with_sample("after late commit", last_stable_offset=3)),
        Refusal("next-transaction-ended", GOOD.with_step("kept after abort", producers=[])),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="PrepareCommit")),
        Refusal("wrong-markers", GOOD.with_log(batches=GOOD.log().batches[:-1])),
        *unsound(GOOD, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=NO_EPOCH_CHECK, anomaly="late-marker-taken"),
        Failpoint(rules=MARKERS_OF_ANY_VERSION_ARE_OLD, anomaly="next-transaction-ended"),
    ),
)
