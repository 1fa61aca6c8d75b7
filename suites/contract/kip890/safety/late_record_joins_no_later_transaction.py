"""KIP890-SAFE-02: a record of an ended transaction that arrives while the next one is open does not become part of it.

Records of transaction 1 lie on the producer's lane to the partition's leader. Over another lane the transaction is
ended and transaction 2 begun on the same partitions; then they arrive. Old clients keep their epoch and add partitions
again, so that they are not protected (KIP-890, "Motivation"); a new client's epoch was bumped. That such a record is
refused and never shown is the KIP's; the code is Kafka's.
"""

from itertools import product

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
from harness.contract.byteman import leader_rules as rules
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import commit, data, ended, evidence, log, marker, refused_write, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

STALE = KafkaError.INVALID_PRODUCER_EPOCH
SHOWN = "late-record-shown"
NO_DEFENCE = (
    rules.KNOWN_PRODUCER_NOT_ASKED_ABOUT + rules.EVERY_TRANSACTION_ONGOING_AT_THE_APPEND + rules.NO_CHECK_OF_DATA
)


def stimulus(lab: Lab) -> None:
    """Commit or abort of 1, then 2 is opened on the same partition; a record of 1 arrives, and 2 is committed."""
    for version, result in product(lab.offered("Produce", (12, 13)), TransactionResult):
        case, partition = f"{result.noun}-v{version}", lab.partition(f"{result.noun}-v{version}")
        txn = lab.producer(protocol=2)
        again = lab.same_id(txn.transactional_id, txn.coordinator, "rival", protocol=2, init=False)
        again.become(txn.producer_id, txn.epoch)
        again.produce(partition, version=version, as_=f"write of 1 {case}")
        with lab.hold(txn.lane_to(partition.leader), name=case) as held:
            late = txn.start_produce(partition, version=version, sequence=1)
            again.end(commit=result.commits, as_=f"end of 1 {case}")
            lab.completed(partition)
            first = 0 if again.epoch > txn.epoch else 2  # where nothing was bumped, behind the late record's
            again.produce(partition, version=version, sequence=first, as_=f"write of 2 {case}")
            held.release()
            late.answer(as_=f"late {case}")
        again.end(commit=True, as_=f"end of 2 {case}")


def check(seen: Evidence) -> Observations:
    """The late record is refused; the log and its readers have the two transactions and nothing else."""
    for case in seen.logs:
        late, end = seen[f"late {case}"], seen[f"end of 1 {case}"]
        write, write_2, end_2 = seen[f"write of 1 {case}"], seen[f"write of 2 {case}"], seen[f"end of 2 {case}"]
        expect.struck(seen, late, by=case, after=end)
        for step in (end, write_2, end_2):
            yield expect.accepted(step, otherwise="own-request-refused")
        yield expect.refused(late, STALE, otherwise="late-record-accepted", code=Level.SHOULD)
        own = (*write.written(), *write_2.written())
        shown = own if end.request["committed"] else write_2.written()
        yield from expect.sound(seen, case, own, committed=shown, appended="late-record-appended", shown=SHOWN)


def apart(result: TransactionResult) -> Evidence:
    """Two transactions, and a late record of the first that was refused."""
    case = f"{result.noun}-v12"
    return evidence(
        written(f"write of 1 {case}", 12, "a", to=case),
        ended(f"end of 1 {case}", committed=result.commits),
        written(f"write of 2 {case}", 12, "b", base_offset=2, to=case),
        refused_write(f"late {case}", 12, STALE, "late", held=20, to=case),
        ended(f"end of 2 {case}", epoch=1),
        logs={case: log(data(7, 0, "a"), marker(result, 1), data(7, 1, "b"), commit(7, 2))},
        held=(case,),
    )


GOOD, ABORTED = map(apart, TransactionResult)
CASE, ABORTED_CASE = "commit-v12", "abort-v12"
_JOINED = log(data(7, 0, "a"), marker(TransactionResult.ABORT, 1), data(7, 1, "b", "late"), commit(7, 2))

REQUIREMENT = Requirement(
    id="KIP890-SAFE-02",
    source=Source(890, "Motivation"),
    statement="A late record of an ended transaction does not become part of the producer's next one.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    access=(Access.LANES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, ABORTED),
    refuses=(
        Refusal("own-request-refused", GOOD.with_step(f"end of 1 {CASE}", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("own-request-refused", GOOD.with_step(f"write of 2 {CASE}", error=STALE)),
        Refusal("own-request-refused", GOOD.with_step(f"end of 2 {CASE}", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("late-record-accepted", GOOD.with_step(f"late {CASE}", error=0)),
        Refusal("wrong-error", GOOD.with_step(f"late {CASE}", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step(f"late {CASE}", error=None, answered=None)),
        Refusal("late-record-appended", ABORTED.with_log(ABORTED_CASE, _JOINED, committed=("b",))),
        Refusal(SHOWN, ABORTED.with_log(ABORTED_CASE, committed=("b", "late"))),
        *unsound(GOOD, CASE, appended="late-record-appended", shown=SHOWN),
    ),
    refuted_by=(
        Failpoint(rules=NO_DEFENCE, anomaly="late-record-appended"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly=SHOWN),
        Liar(api="Produce", instead_of=STALE, error=KafkaError.INVALID_TXN_STATE, anomaly="wrong-error"),
    ),
)
