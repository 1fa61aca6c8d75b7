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
    Observations,
    Offers,
    Order,
    Requirement,
    Source,
    TransactionResult,
)
from harness.contract.byteman.leader_rules import EVERY_TRANSACTION_ONGOING_AT_THE_APPEND, NO_CHECK_OF_DATA
from harness.contract.doctored import ended, evidence, gate, log, marker, refused_write, sample, strike
from harness.contract.refuters import VERIFICATION, Failpoint, Liar
from harness.lab import Lab
from suites.contract.kip890.race.late_yes import refusals, refused_without_a_trace, write_late

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
        write_late(lab, case, writer=txn, ender=other, partition=partition, version=version, result=result)


def check(seen: Evidence) -> Observations:
    """The coordinator had added the partition, the marker was written; then the write is refused without a trace."""
    for case in seen.logs:
        yield from refused_without_a_trace(seen, case)


CASE = "off-commit-12"
GOOD = evidence(
    ended(f"end {CASE}"),
    refused_write(f"late {CASE}", 12, STALE, "late"),
    logs={CASE: log(marker(TransactionResult.COMMIT, 1))},
    faults=(gate(CASE, "hold-response", strike("AddPartitionsToTxn", 5)),),
    samples=(sample(f"marker {CASE}", CASE, 1, 1), sample(f"after {CASE}", CASE, 1, 1)),
)

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
    refuses=refusals(GOOD, CASE, TransactionResult.COMMIT, marker_epoch=1, epoch=0),
    refuted_by=(
        Failpoint(rules=NO_DEFENCE, anomaly="late-record-appended"),
        Failpoint(rules=NO_DEFENCE, anomaly="hanging-transaction"),
        Liar(api="Produce", instead_of=STALE, error=0, anomaly="late-write-accepted"),
    ),
)
