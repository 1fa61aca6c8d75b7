"""KIP890-RACE-01-NEWER: the race of RACE-01 for an older client whose transactional id a newer client had before.

An application is taken back to a client of the old protocol, and an instance of the new protocol, fenced by it, still
writes once: the coordinator refuses that. Then the older client's own write is verified, its answer is held until the
transaction is over, and delivered. KIP-890 promises older clients that such a write is not appended, whoever has
written in the producer id before.
"""

from itertools import product

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.doctored import ended, evidence, gate, log, marker, refused_write, sample, strike
from harness.contract.refuters import Liar, Release
from harness.lab import Lab
from suites.contract.kip890.race.late_yes import refusals, refused_without_a_trace, write_late


def stimulus(lab: Lab) -> None:
    """For each version of Produce of older clients, after a commit and after an abort."""
    for version, result in product(lab.offered("Produce", (9, 11)), TransactionResult):
        case = f"{result.noun}-{version}"
        newer = lab.producer("rival", protocol=2)
        partition = lab.partition(case, leader=lab.another_broker(newer.coordinator))
        older = lab.same_id(newer.transactional_id, newer.coordinator, "victim")
        other = lab.same_id(newer.transactional_id, newer.coordinator, "rival", init=False)
        other.become(older.producer_id, older.epoch)
        newer.produce(partition, as_=f"fenced {case}")
        older.add(partition)
        write_late(lab, case, writer=older, ender=other, partition=partition, version=version, result=result)


def check(seen: Evidence) -> Observations:
    """The fenced write was refused, the other one verified, the marker written; then it is refused without a trace."""
    for case in seen.logs:
        yield from refused_without_a_trace(seen, case)
        yield expect.refused(
            seen[f"fenced {case}"],
            KafkaError.INVALID_PRODUCER_EPOCH,
            otherwise="fenced-write-accepted",
            code=Level.SHOULD,
        )


CASE = "abort-11"
GOOD = evidence(
    refused_write(f"fenced {CASE}", 13, KafkaError.INVALID_PRODUCER_EPOCH),
    ended(f"end {CASE}", version=4, committed=False),
    refused_write(f"late {CASE}", 11, KafkaError.INVALID_TXN_STATE, "late"),
    logs={CASE: log(marker(TransactionResult.ABORT, 1))},
    faults=(gate(CASE, "hold-response", strike("AddPartitionsToTxn", 5)),),
    samples=(sample(f"marker {CASE}", CASE, 1, 1), sample(f"after {CASE}", CASE, 1, 1)),
)

REQUIREMENT = Requirement(
    id="KIP890-RACE-01-NEWER",
    source=Source(890, "Race Condition"),
    statement="An older client's write is not appended after its marker, also where a newer client wrote before it.",
    needs=(Offers("Produce", 12),),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step(f"late {CASE}", error=KafkaError.INVALID_PRODUCER_EPOCH)),
    refuses=(
        Refusal("fenced-write-accepted", GOOD.with_step(f"fenced {CASE}", error=0)),
        *refusals(GOOD, CASE, TransactionResult.ABORT, marker_epoch=1, epoch=1),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="late-write-accepted"),
        Release(version="4.3.1", anomaly="late-record-appended"),
        Release(version="4.3.1", anomaly="hanging-transaction"),
        Liar(api="Produce", instead_of=47, error=0, anomaly="fenced-write-accepted"),
    ),
)
