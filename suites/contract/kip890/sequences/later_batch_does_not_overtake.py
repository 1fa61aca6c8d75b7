"""KIP890-SEQ-04: when a first batch could not be verified and is to be sent again, no later batch may overtake it.

The client pipelines: the first batch of its transaction is refused as retriable, the second, whose verification is
answered well, comes next. The leader knows nothing of the producer yet, and would take any sequence. KIP-890 wants
retriable refusals so that clients try again "as to not cause issues with out of order sequence"; the order of batches
is idempotence's promise (KIP-98), OUT_OF_ORDER_SEQUENCE_NUMBER its error, and the sequence that a leader remembers of
what it could not verify is Kafka's way to it (``VerificationStateEntry``).
"""

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
    expect,
)
from harness.contract.byteman.leader_rules import LOWEST_SEQUENCE_FORGOTTEN
from harness.contract.doctored import commit, data, ended, evidence, gate, log, refused_write, strike, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

FIRST, SECOND = ("a", "b", "c", "d", "e"), ("f", "g")
RETRIABLE, OVERTAKING = KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER


def stimulus(lab: Lab) -> None:
    """The first batch meets a coordinator that says it is none; the second one does not; then both again, in order."""
    for version in lab.offered("Produce", (9, 11)):
        case, txn = f"P{version}", lab.producer("victim")
        partition = lab.partition(case, leader=lab.another_broker(txn.coordinator))
        txn.add(partition)
        link, trouble = lab.link(partition.leader, txn.coordinator), KafkaError.NOT_COORDINATOR
        with lab.gate(link, api="AddPartitionsToTxn", action="rewrite", name=case, error=trouble):
            txn.produce(partition, values=FIRST, sequence=0, version=version, retry=(), as_=f"first {case}")
        after = len(FIRST)
        txn.produce(partition, values=SECOND, sequence=after, version=version, retry=(), as_=f"overtaking {case}")
        txn.produce(partition, values=FIRST, sequence=0, version=version, as_=f"first again {case}")
        txn.produce(partition, values=SECOND, sequence=after, version=version, as_=f"second again {case}")
        txn.end(commit=True, as_=f"end {case}")


def check(seen: Evidence) -> Observations:
    """The second batch is refused until the first one is in the log; both are there once, in their order."""
    for case in seen.logs:
        expect.gated(seen, case)
        yield expect.refused(seen[f"first {case}"], RETRIABLE, otherwise="unverified-write-accepted", code=Level.SHOULD)
        yield expect.refused(seen[f"overtaking {case}"], OVERTAKING, otherwise="batch-overtook", code=Level.SHOULD)
        for name in ("first again", "second again", "end"):
            yield expect.accepted(seen[f"{name} {case}"], otherwise="retry-refused")
        yield from expect.sound(seen, case, (*FIRST, *SECOND), appended="wrong-order", shown="wrong-order-shown")


GOOD = evidence(
    refused_write("first P9", 9, RETRIABLE, *FIRST, to="P9"),
    refused_write("overtaking P9", 9, OVERTAKING, *SECOND, to="P9"),
    written("first again P9", 9, *FIRST, to="P9"),
    written("second again P9", 9, *SECOND, base_offset=5, to="P9"),
    ended("end P9", version=4),
    logs={"P9": log(data(7, 0, *FIRST), data(7, 0, *SECOND, sequence=5), commit(7, 0))},
    faults=(gate("P9", "rewrite", strike("AddPartitionsToTxn", 5)),),
)
_OVERTAKEN = log(data(7, 0, *SECOND, sequence=5), data(7, 0, *FIRST), commit(7, 0))

REQUIREMENT = Requirement(
    id="KIP890-SEQ-04",
    source=Source(890, "Old Clients / Produce Requests (NOT_ENOUGH_REPLICAS)"),
    statement="When a first batch could not be verified, a later one of the same producer does not overtake it.",
    needs=(Offers("Produce", 9),),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unverified-write-accepted", GOOD.with_step("first P9", error=0)),
        Refusal("batch-overtook", GOOD.with_step("overtaking P9", error=0)),
        Refusal("wrong-error", GOOD.with_step("overtaking P9", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("overtaking P9", error=None)),
        Refusal("retry-refused", GOOD.with_step("first again P9", error=OVERTAKING)),
        Refusal("retry-refused", GOOD.with_step("second again P9", error=OVERTAKING)),
        Refusal("retry-refused", GOOD.with_step("end P9", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-order", GOOD.with_log("P9", _OVERTAKEN, committed=(*FIRST, *SECOND))),
        *unsound(GOOD, "P9", appended="wrong-order", shown="wrong-order-shown"),
    ),
    refuted_by=(
        Failpoint(rules=LOWEST_SEQUENCE_FORGOTTEN, anomaly="batch-overtook"),
        Failpoint(rules=LOWEST_SEQUENCE_FORGOTTEN, anomaly="wrong-order"),
        Liar(api="Produce", instead_of=OVERTAKING, error=KafkaError.INVALID_TXN_STATE, anomaly="wrong-error"),
        Failpoint(rules=LOWEST_SEQUENCE_FORGOTTEN, anomaly="wrong-order-shown"),
    ),
)
