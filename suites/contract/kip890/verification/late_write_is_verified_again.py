"""KIP890-VERIFY-09: when its marker is written, a transaction is over: what arrives late is verified anew and refused.

The leader remembers for the length of one transaction that its partition was verified, and the marker must wipe that
out. An older client keeps its epoch, so only the verification tells the late write from one of a next transaction. The
end travels on another lane, because on one broker it would lie behind the held write. For version 11 the KIP has
INVALID_TXN_STATE as well; TRANSACTION_ABORTABLE is Kafka's.
"""

from itertools import product

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
from harness.contract.byteman.leader_rules import EVERY_TRANSACTION_ONGOING, NO_GUARD_AT_THE_APPEND
from harness.contract.doctored import (
    data,
    described,
    evidence,
    known_producer,
    log,
    marker,
    producer_row,
    refused_write,
    sample,
)
from harness.contract.refuters import VERIFICATION, Failpoint, Liar, Release, Setting
from harness.contract.version_tables import unadded, unadded_by_kip
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Transactions that add, write and end; a second write of each is held on its lane until they are over."""
    for version, result in product(lab.offered("Produce", (9, 11)), TransactionResult):
        case = f"{result.noun}-{version}"
        txn, partition = lab.producer("victim"), lab.partition(case)
        ender = lab.same_id(txn.transactional_id, txn.coordinator, "rival", init=False)
        ender.become(txn.producer_id, txn.epoch)
        txn.add(partition)
        txn.produce(partition, version=version)
        with lab.hold(txn.lane_to(partition.leader), name=f"hold {case}") as held:
            late = txn.start_produce(partition, version=version)
            ender.end(commit=result.commits)
            lab.completed(partition)
            lab.reached(ender, result.completed, "Empty", as_=f"transaction {case}")
            lab.observer.producers(partition, as_=f"producers {case}")
            held.release()
            late.answer(as_=f"late after {result.noun}")
        lab.sample(f"after {case}", partition)


def check(seen: Evidence) -> Observations:
    """After the marker nothing is open; the late write is refused and leaves no trace."""
    for result in TransactionResult:
        for late in seen.all(f"late after {result.noun}"):
            case = f"{result.noun}-{late.version}"
            expect.struck(seen, late, by=f"hold {case}")
            over, leader = seen[f"transaction {case}"], seen[f"producers {case}"]
            yield expect.over(over, otherwise="never-completed")
            yield expect.not_open(leader, late.request_int("producer_id"), otherwise="transaction-not-closed")
            # Where the state cannot be looked at, the coordinator may not be done yet: that is VERIFY-10's case.
            ending = () if over.looked else (KafkaError.NOT_ENOUGH_REPLICAS,)
            codes, allowed = (unadded(late.version), *ending), unadded_by_kip(late.version)
            yield expect.refused(late, *codes, otherwise="late-write-accepted", also=allowed)
            appended = [value for value in seen.log(case).values() if value in late.written()]
            yield expect.agree("late values in the log", appended, [], late, otherwise="late-record-appended")
            yield expect.stable(seen.sample(f"after {case}"), late, otherwise="hanging-transaction")


def late_writes(version: int) -> Evidence:
    """The late writes in this version, refused; sound logs."""
    cases = [(result, f"{result.noun}-{version}") for result in TransactionResult]
    return evidence(
        *(refused_write(f"late after {one.noun}", version, unadded(version), "late", held=20) for one, _ in cases),
        *(described(f"transaction {case}", one.completed) for one, case in cases),
        *(known_producer(f"producers {case}") for _, case in cases),
        logs={case: log(data(7, 0, "a"), marker(one, 0)) for one, case in cases},
        held=tuple(f"hold {case}" for _, case in cases),
        samples=tuple(sample(f"after {case}", case, 2, 2) for _, case in cases),
    )


GOOD, NEWER = late_writes(9), late_writes(11)
_APPENDED = log(data(7, 0, "a"), marker(TransactionResult.ABORT, 0), data(7, 0, "late"))

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-09",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="After a transaction's marker, the next first write to the partition is verified again.",
    needs=(Offers("Produce", 9),),
    access=(Access.LANES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, NEWER),
    refuses=(
        Refusal("never-completed", GOOD.with_step("transaction commit-9", state="PrepareCommit")),
        Refusal("late-write-accepted", GOOD.with_step("late after abort", error=0)),
        Refusal("wrong-error", GOOD.with_step("late after commit", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("wrong-error", NEWER.with_step("late after commit", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", NEWER.with_step("late after abort", error=None, answered=None)),
        Refusal("transaction-not-closed", GOOD.with_step("producers abort-9", producers=[producer_row(since=0)])),
        Refusal("late-record-appended", GOOD.with_log("abort-9", _APPENDED)),
        Refusal("hanging-transaction", GOOD.with_sample("after commit-9", high_watermark=3)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="hanging-transaction"),
        Setting(key=VERIFICATION, value="false", anomaly="late-write-accepted"),
        Failpoint(rules=EVERY_TRANSACTION_ONGOING + NO_GUARD_AT_THE_APPEND, anomaly="late-write-accepted"),
        Liar(api="DescribeProducers", fields={"current_txn_start_offset": 0}, anomaly="transaction-not-closed"),
    ),
)
