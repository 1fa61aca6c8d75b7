"""KIP890-RACE-01, -02: a write that was verified before its transaction ended must not be appended after its marker.

The coordinator's positive answer lies on its way to the leader until the marker is written: just the race that the KIP
describes. Then it is delivered, at once (-01), or when the producer's next transaction, of which the partition is no
part, is open (-02): an older client keeps its epoch, so nothing but the leader's memory of the verification tells the
two apart. That the write is refused is the KIP's; the code is Kafka's (``UnifiedLog``: INVALID_TXN_STATE, and where an
epoch was bumped INVALID_PRODUCER_EPOCH).
"""

from functools import partial
from itertools import product

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.leader_rules import NO_GUARD_AT_THE_APPEND
from harness.contract.doctored import data, ended, evidence, gate, log, marker, refused_write, sample, strike, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab, Producer
from suites.contract.kip890.race.late_yes import nothing, refusals, refused_without_a_trace, write_late

BROKEN = "next-transaction-broken"  # of the case that has a next one


def stimulus(lab: Lab, *, next_one: bool) -> None:
    """The answer about each write is held at the gate until its transaction, ended over another lane, is over."""
    for version, result in product(lab.offered("Produce", (9, 11)), TransactionResult):
        case = f"{result.noun}-{version}"
        txn = lab.producer("victim")
        partition = lab.partition(case, leader=lab.another_broker(txn.coordinator))
        other = lab.same_id(txn.transactional_id, txn.coordinator, "rival", init=False)
        other.become(txn.producer_id, txn.epoch)
        txn.add(partition)
        following = partial(_begin_next, lab, other, case) if next_one else nothing
        write_late(
            lab,
            case,
            writer=txn,
            ender=other,
            partition=partition,
            version=version,
            result=result,
            meanwhile=following,
        )
        if next_one:
            other.end(commit=True, as_=f"next {case}")


def _begin_next(lab: Lab, other: Producer, case: str) -> None:
    """Led by the coordinator, whose questions to itself do not wait behind the held answer."""
    other.write(lab.partition(f"next-{case}", leader=other.coordinator))


def check(seen: Evidence) -> Observations:
    """The coordinator had said yes, the marker was written, and then the write is refused and leaves no trace."""
    for case in (name for name in seen.logs if not name.startswith("next-")):
        yield from refused_without_a_trace(seen, case)
        for next_end in expect.taken(seen, f"next {case}"):
            yield expect.accepted(next_end, otherwise=BROKEN)
            yield from expect.sound(seen, f"next-{case}", shown=BROKEN, stuck="hanging-transaction")


def refused_writes(version: int, *, next_one: bool) -> Evidence:
    """Late writes in this version, refused; sound logs."""
    cases = [(result, f"{result.noun}-{version}") for result in TransactionResult]
    nexts = {f"next-{case}": log(data(7, 0, "a"), marker(TransactionResult.COMMIT, 0)) for _, case in cases if next_one}
    return evidence(
        *(ended(f"end {case}", version=4, committed=result.commits) for result, case in cases),
        *(refused_write(f"late {case}", version, KafkaError.INVALID_TXN_STATE, "late") for _, case in cases),
        *(ended(f"next {case}", version=4) for _, case in cases if next_one),
        logs={case: log(marker(result, 0)) for result, case in cases} | nexts,
        faults=tuple(gate(case, "hold-response", strike("AddPartitionsToTxn", 5)) for _, case in cases),
        samples=tuple(sample(f"{name} {case}", case, 1, 1) for _, case in cases for name in ("marker", "after")),
    )


def requirement(id_: str, when: str, *, next_one: bool) -> Requirement[Lab]:
    """At the end of its transaction, or within the next one."""
    good, case = refused_writes(11, next_one=next_one), "abort-11"
    of_next = (
        (
            Refusal(BROKEN, good.with_step(f"next {case}", error=KafkaError.INVALID_TXN_STATE)),
            *unsound(good, f"next-{case}", appended=None, shown=BROKEN, stuck="hanging-transaction"),
        )
        if next_one
        else ()
    )
    breaks_next = Liar(api="EndTxn", instead_of=0, skip=1, at_most=1, error=48, anomaly=BROKEN)
    return Requirement(
        id=id_,
        source=Source(890, "Race Condition"),
        statement=f"A write that was verified before its transaction ended is not appended {when}.",
        needs=(Offers("Produce", 9),),
        order=Order.HOLDS_LINKS,
        access=(
            Access.BROKERS,
            Access.LINKS,
        ),
        stimulus=partial(stimulus, next_one=next_one),
        check=check,
        accepts=(good, refused_writes(9, next_one=next_one)),
        refuses=(
            *refusals(good, case, TransactionResult.ABORT, marker_epoch=0, epoch=0),
            *of_next,
        ),
        refuted_by=(
            Failpoint(rules=NO_GUARD_AT_THE_APPEND, anomaly="late-write-accepted"),
            Failpoint(rules=NO_GUARD_AT_THE_APPEND, anomaly="late-record-appended"),
            Failpoint(rules=NO_GUARD_AT_THE_APPEND, anomaly="hanging-transaction"),
            Liar(api="Produce", instead_of=48, error=3, anomaly="wrong-error"),
            *([breaks_next] if next_one else []),
        ),
    )


REQUIREMENTS = (
    requirement("KIP890-RACE-01", "after the transaction's marker", next_one=False),
    requirement("KIP890-RACE-02", "into a later transaction of its producer", next_one=True),
)
