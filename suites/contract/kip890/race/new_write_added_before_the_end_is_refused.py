"""KIP890-RACE-03: a new client's write that was added before its transaction ended must not be appended after it.

The coordinator's answer that the partition was added lies on its way to the leader until the transaction's marker is
written. The end bumped the epoch, and by that the write is known as late; so it is refused also where verification is
switched off, which the KIP has for older clients alone. That it is refused is the KIP's; the code is Kafka's, whose
guard at the append (INVALID_TXN_STATE) follows the switch for all clients.
"""

from itertools import product

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.leader_rules import EVERY_TRANSACTION_ONGOING_AT_THE_APPEND, NO_CHECK_OF_DATA
from harness.contract.doctored import data, ended, evidence, gate, log, marker, refused_write, sample, strike
from harness.contract.refuters import VERIFICATION, Failpoint, Liar
from harness.lab import Lab

NO_DEFENCE = EVERY_TRANSACTION_ONGOING_AT_THE_APPEND + NO_CHECK_OF_DATA
STALE, ENDED = KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """With the switch on and off: the answer is held at the gate until the transaction, ended elsewhere, is over."""
    late_writes(lab, "on")
    with lab.admin.setting(VERIFICATION, "false"):
        late_writes(lab, "off")


def late_writes(lab: Lab, switch: str) -> None:
    """A late write in each version, after a commit and after an abort."""
    for version, result in product(lab.offered("Produce", (12, 13)), TransactionResult):
        case = f"{switch}-{result.noun}-{version}"
        txn = lab.producer("victim", protocol=2)
        partition = lab.partition(case, leader=lab.another_broker(txn.coordinator))
        other = lab.same_id(txn.transactional_id, txn.coordinator, "rival", protocol=2, init=False)
        other.become(txn.producer_id, txn.epoch)
        link = lab.link(partition.leader, txn.coordinator)
        with lab.gate(link, api="AddPartitionsToTxn", action="hold-response", name=case) as answer:
            late = txn.start_produce(partition, version=version)
            answer.wait()
            other.end(commit=result.commits, as_=f"end {case}")
            lab.passed(partition, 0)
            lab.sample(f"marker {case}", partition)
            answer.release()
            late.answer(as_=f"late {case}")
        lab.sample(f"after {case}", partition)


def check(seen: Evidence) -> Observations:
    """The coordinator had added the partition, the marker was written; then the write is refused without a trace."""
    for case, drained in seen.logs.items():
        end, late, marked = seen[f"end {case}"], seen[f"late {case}"], seen.sample(f"marker {case}")
        if expect.gated(seen, case).strikes[0].error != 0:
            raise NotSeen(f"the coordinator had refused {case}")
        yield expect.accepted(end, otherwise="end-refused")
        yield expect.agree("high watermark", marked.high_watermark, 1, end, otherwise="marker-not-written")
        expect.struck(seen, late, by=case, after=end)
        yield expect.refused(late, STALE, ENDED, otherwise="late-write-accepted", code=Level.SHOULD)
        yield expect.agree("values in the log", drained.values(), (), late, otherwise="late-record-appended")
        yield expect.stable(seen.sample(f"after {case}"), late, otherwise="hanging-transaction")


CASE = "off-commit-12"
GOOD = evidence(
    ended(f"end {CASE}"),
    refused_write(f"late {CASE}", 12, STALE, "late"),
    logs={CASE: log(marker(TransactionResult.COMMIT, 1))},
    faults=(gate(CASE, "hold-response", strike("AddPartitionsToTxn", 5)),),
    samples=(sample(f"marker {CASE}", CASE, 1, 1), sample(f"after {CASE}", CASE, 1, 1)),
)
_APPENDED = log(marker(TransactionResult.COMMIT, 1), data(7, 0, "late"))

REQUIREMENT = Requirement(
    id="KIP890-RACE-03",
    source=Source(890, "Race Condition"),
    statement="A new client's write that was added before its transaction ended is not appended after its marker.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.BROKERS, Access.LINKS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step(f"late {CASE}", error=ENDED)),
    refuses=(
        Refusal("end-refused", GOOD.with_step(f"end {CASE}", error=ENDED)),
        Refusal("marker-not-written", GOOD.with_sample(f"marker {CASE}", high_watermark=0)),
        Refusal("late-write-accepted", GOOD.with_step(f"late {CASE}", error=0)),
        Refusal("wrong-error", GOOD.with_step(f"late {CASE}", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("unanswered", GOOD.with_step(f"late {CASE}", error=None)),
        Refusal("late-record-appended", GOOD.with_log(CASE, _APPENDED)),
        Refusal("hanging-transaction", GOOD.with_sample(f"after {CASE}", high_watermark=2)),
    ),
    refuted_by=(
        Failpoint(rules=NO_DEFENCE, anomaly="late-record-appended"),
        Failpoint(rules=NO_DEFENCE, anomaly="hanging-transaction"),
        Liar(api="Produce", instead_of=STALE, error=0, anomaly="late-write-accepted"),
    ),
)
