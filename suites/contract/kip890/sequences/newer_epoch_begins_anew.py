"""KIP890-SEQ-05: what a leader remembers of a batch that it could not verify ends with the producer's epoch.

A producer whose first batch could not be verified asks for a new epoch, as a client does that cannot go on (KIP-360),
and begins with sequence 0 again; that batch must be taken, whichever sequence was refused before. That gaps stay
refused within the new epoch is idempotence's promise (KIP-98). A leader that knows nothing of an older client takes any
first sequence; that a batch of the epoch before does not stand against it is Kafka's (``VerificationStateEntry``).
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
from harness.contract.byteman import leader_rules as rules
from harness.contract.doctored import commit, data, ended, evidence, gate, log, refused_write, step, strike, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

RETRIABLE, GAP = KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
CASES = {"from-0": (0, 0), "lower": (5, 0), "higher": (0, 5)}
"""The sequence that was refused in the old epoch, and the one that is first in the new."""


def stimulus(lab: Lab) -> None:
    """A batch whose coordinator says it is none; then a new epoch, its first batch, and one behind a gap."""
    for version in lab.offered("Produce", (9, 11)):
        for case, (refused, first) in CASES.items():
            _case(lab, f"{case}-v{version}", version, refused, first)


def _case(lab: Lab, case: str, version: int, refused: int, first: int) -> None:
    txn, trouble = lab.producer("victim"), KafkaError.NOT_COORDINATOR
    partition = lab.partition(case, leader=lab.another_broker(txn.coordinator))
    link = lab.link(partition.leader, txn.coordinator)
    with lab.gate(link, api="AddPartitionsToTxn", action="rewrite", name=case, error=trouble):
        txn.produce(partition, sequence=refused, version=version, retry=(), as_=f"refused {case}")
    txn.init(identity=(txn.producer_id, txn.epoch), version=4)
    txn.add(partition)
    txn.produce(partition, sequence=first, version=version, as_=f"first {case}")
    txn.produce(partition, sequence=first + 9, version=version, retry=(), as_=f"gap {case}")
    txn.end(commit=True, as_=f"end {case}")


def check(seen: Evidence) -> Observations:
    """The new epoch's first batch is taken, one behind a gap is not, and the first is committed."""
    for case in seen.logs:
        before, first, gap = seen[f"refused {case}"], seen[f"first {case}"], seen[f"gap {case}"]
        expect.gated(seen, case)
        yield expect.refused(before, RETRIABLE, otherwise="unverified-write-accepted", code=Level.SHOULD)
        anew = expect.accepted(first, otherwise="new-epoch-refused")
        yield expect.habit(anew) if first.request_int("base_sequence") else anew
        yield expect.refused(gap, GAP, otherwise="gap-accepted", code=Level.SHOULD)
        if first.error == 0:
            yield expect.accepted(seen[f"end {case}"], otherwise="end-refused")
            yield from expect.sound(seen, case, first.written(), appended="wrong-records-in-log")


GOOD = evidence(
    refused_write("refused lower-v9", 9, RETRIABLE, "old", to="lower-v9"),
    step("first lower-v9", "Produce", 9, request={"base_sequence": 0, "values": ["a"]}),
    refused_write("gap lower-v9", 9, GAP, "gap", to="lower-v9"),
    ended("end lower-v9", version=4, epoch=1),
    logs={"lower-v9": log(data(7, 1, "a"), commit(7, 1))},
    faults=(gate("lower-v9", "rewrite", strike("AddPartitionsToTxn", 5)),),
)

REQUIREMENT = Requirement(
    id="KIP890-SEQ-05",
    source=Source(890, "Old Clients / Produce Requests (NOT_ENOUGH_REPLICAS)"),
    statement="A batch that could not be verified does not stand against the first batch of the producer's next epoch.",
    needs=(Offers("Produce", 9), Offers("InitProducerId", 4)),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unverified-write-accepted", GOOD.with_step("refused lower-v9", error=0)),
        Refusal("new-epoch-refused", GOOD.with_step("first lower-v9", error=GAP)),
        Refusal("gap-accepted", GOOD.with_step("gap lower-v9", error=0)),
        Refusal("wrong-error", GOOD.with_step("gap lower-v9", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("end-refused", GOOD.with_step("end lower-v9", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, "lower-v9"),
    ),
    refuted_by=(
        Failpoint(rules=rules.LOWEST_SEQUENCE_KEPT, anomaly="new-epoch-refused"),
        Failpoint(rules=rules.NO_SEQUENCE_CHECK, anomaly="gap-accepted"),
        Failpoint(rules=rules.NO_SEQUENCE_CHECK, anomaly="wrong-records-in-log"),
        Liar(api="Produce", instead_of=GAP, error=KafkaError.INVALID_TXN_STATE, anomaly="wrong-error"),
    ),
)
