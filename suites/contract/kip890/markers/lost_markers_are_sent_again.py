"""KIP890-MARK-03: markers that are lost, answered in vain, or written twice end in a completed transaction.

At the gate on the link from the coordinator to a partition's leader a WriteTxnMarkers is lost, its answer is lost, its
answer says that another broker leads, or it arrives twice. In all but the first the leader has written the marker
already, so the coordinator's next try finds nothing open (KAFKA-19999 is a leader that refused it for ever). That every
transaction ends is the KIP's; names of states are Kafka's, and how often the marker stands in the log is left to it.
"""

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
from harness.contract.byteman.marker_writing_rules import LOST_MARKERS_NOT_SENT_AGAIN, REPEATED_MARKER_REFUSED
from harness.contract.doctored import (
    data,
    described,
    ended,
    evidence,
    gate,
    log,
    marker,
    sample,
    strike,
    unsound,
    written,
)
from harness.contract.refuters import Failpoint, Liar
from harness.lab import GateAction, Lab

MISHAPS: dict[str, GateAction] = {
    "lost": "drop-request",
    "answer-lost": "drop-response",
    "answered-in-vain": "rewrite",
    "repeated": "repeat",
}


def stimulus(lab: Lab) -> None:
    """A mishap to the markers of each transaction; then the producer's next one, on another partition."""
    for result, (mishap, action) in product(TransactionResult, MISHAPS.items()):
        case, txn = f"{result.noun}-{mishap}", lab.producer(protocol=2)
        partition = lab.partition(case, leader=lab.another_broker(txn.coordinator))
        txn.produce(partition, as_=f"write {case}")
        link, error = lab.link(txn.coordinator, partition.leader), KafkaError.NOT_LEADER_OR_FOLLOWER
        hang_up = action.startswith("drop")
        with lab.gate(link, api="WriteTxnMarkers", action=action, name=case, hang_up=hang_up, error=error) as gated:
            txn.end(commit=result.commits, as_=f"end {case}")
            gated.wait()
        lab.reached(txn, result.completed, as_=f"kept {case}")
        lab.sample(f"after {case}", partition)
        txn.produce(lab.partition(f"next-{case}", leader=txn.coordinator), as_=f"next-{case}")
        txn.end(commit=True, as_=f"next end {case}")


def check(seen: Evidence) -> Observations:
    """The transaction is over with its own markers alone, and the next one is taken."""
    for case, drained in seen.logs.items():
        if case.startswith("next-"):
            continue
        expect.gated(seen, case)
        end, write, after = seen[f"end {case}"], seen[f"write {case}"], seen.sample(f"after {case}")
        result = TransactionResult.COMMIT if end.request["committed"] else TransactionResult.ABORT
        yield expect.accepted(end, otherwise="end-refused")
        yield expect.over(seen[f"kept {case}"], otherwise="never-completed")
        yield expect.stable(after, end, otherwise="stuck-lso")
        for step in (seen[f"next-{case}"], seen[f"next end {case}"]):
            yield expect.accepted(step, otherwise="next-transaction-refused")
        own = (result.marker, end.request_int("producer_epoch") + 1)
        yield expect.agree("its markers", set(drained.marks()), {own}, end, otherwise="wrong-markers")
        shown = write.written() if result.commits else ()
        yield from expect.sound(seen, case, write.written(), committed=shown)


def completed(result: TransactionResult) -> Evidence:
    """A transaction whose marker's answer was lost, complete; the marker stands in the log twice."""
    case = f"{result.noun}-answer-lost"
    return evidence(
        written(f"write {case}", 12, "a", to=case),
        ended(f"end {case}", committed=result.commits),
        described(f"kept {case}", result.completed, epoch=1),
        written(f"next-{case}", 12, "b", to=f"next-{case}"),
        ended(f"next end {case}", epoch=1),
        logs={case: log(data(7, 0, "a"), marker(result, 1), marker(result, 1))},
        faults=(gate(case, "drop-response", strike()),),
        samples=(sample(f"after {case}", case, 3, 3),),
    )


GOOD, ABORTED = map(completed, TransactionResult)
CASE = "commit-answer-lost"
_OTHER = log(data(7, 0, "a"), marker(TransactionResult.COMMIT, 1), marker(TransactionResult.ABORT, 1))

REQUIREMENT = Requirement(
    id="KIP890-MARK-03",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A transaction completes also when its markers or their answers are lost, or its markers arrive twice.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, ABORTED),
    refuses=(
        Refusal("end-refused", GOOD.with_step(f"end {CASE}", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("never-completed", GOOD.with_step(f"kept {CASE}", state="PrepareCommit")),
        Refusal("stuck-lso", GOOD.with_sample(f"after {CASE}", last_stable_offset=0)),
        Refusal("next-transaction-refused", GOOD.with_step(f"next-{CASE}", error=KafkaError.CONCURRENT_TRANSACTIONS)),
        Refusal("next-transaction-refused", GOOD.with_step(f"next end {CASE}", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-markers", GOOD.with_log(CASE, _OTHER)),
        *unsound(GOOD, CASE),
    ),
    refuted_by=(
        Failpoint(rules=LOST_MARKERS_NOT_SENT_AGAIN, anomaly="stuck-lso"),
        Failpoint(rules=REPEATED_MARKER_REFUSED, anomaly="next-transaction-refused"),
        Failpoint(rules=REPEATED_MARKER_REFUSED, anomaly="never-completed"),
        Liar(api="EndTxn", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="end-refused"),
    ),
)
