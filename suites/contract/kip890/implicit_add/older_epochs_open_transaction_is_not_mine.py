"""KIP890-IMPL-11: a transaction of the epoch before, still open on a partition, is not the one that a write belongs to.

The end was answered, and its marker to the partition lies at the gate: for its leader the last transaction is open. A
write of the next one must not join it there, where the marker that is under way would commit or abort it. A retriable
refusal until then is the KIP's; that it is CONCURRENT_TRANSACTIONS, and that the broker does not wait for the marker
instead, are Kafka's. After the marker the write is taken.
"""

from itertools import product, takewhile

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
from harness.contract.byteman.leader_rules import (
    EVERY_TRANSACTION_ONGOING_AT_THE_APPEND,
    KNOWN_PRODUCER_NOT_ASKED_ABOUT,
)
from harness.contract.doctored import (
    commit,
    data,
    ended,
    evidence,
    gate,
    log,
    marker,
    refused_write,
    sample,
    unsound,
    written,
)
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Batch
from harness.lab import Lab

JOINED = KNOWN_PRODUCER_NOT_ASKED_ABOUT + EVERY_TRANSACTION_ONGOING_AT_THE_APPEND
CONCURRENT, BY_KIP = KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.NOT_ENOUGH_REPLICAS


def stimulus(lab: Lab) -> None:
    """A write in the new epoch before the old one's marker, and the same again after it."""
    for version, result in product(lab.offered("Produce", (12, 13)), TransactionResult):
        case, txn = f"{result.noun}-v{version}", lab.producer(protocol=2)
        partition = lab.partition(case, leader=lab.another_broker(txn.coordinator))
        txn.produce(partition, version=version, as_=f"first {case}")
        link = lab.link(txn.coordinator, partition.leader)
        with lab.gate(link, api="WriteTxnMarkers", action="hold", name=case) as markers:
            txn.end(commit=result.commits, as_=f"end {case}")
            markers.wait()
            txn.produce(partition, version=version, retry=(), as_=f"early {case}")
            lab.sample(f"before {case}", partition)
        txn.produce(partition, version=version, as_=f"later {case}")
        txn.end(commit=True, as_=f"next end {case}")


def check(seen: Evidence) -> Observations:
    """Nothing of the new epoch stands before the old one's marker; each transaction has its own end."""
    for case, drained in seen.logs.items():
        expect.gated(seen, case)
        first, early, later = (seen[f"{name} {case}"] for name in ("first", "early", "later"))
        end, next_end, before = seen[f"end {case}"], seen[f"next end {case}"], seen.sample(f"before {case}")
        result = TransactionResult.COMMIT if end.request["committed"] else TransactionResult.ABORT
        yield expect.refused(early, CONCURRENT, otherwise="early-write-accepted", also=(BY_KIP,))
        yield expect.agree("high watermark", before.high_watermark, 1, early, otherwise="appended-before-marker")
        for step in (end, later, next_end):
            yield expect.accepted(step, otherwise="refused-after-marker")
        ended_by_first = tuple(value for batch in takewhile(_is_data, drained.batches) for value in batch.values)
        yield expect.agree("before the marker", ended_by_first, first.written(), early, otherwise="mixed-transactions")
        shown = (*first.written(), *later.written()) if result.commits else later.written()
        yield from expect.sound(seen, case, (*first.written(), *later.written()), committed=shown)


def _is_data(batch: Batch) -> bool:
    return batch.control is None


def in_turn(result: TransactionResult) -> Evidence:
    """Two transactions one after the other; an early write of the second was refused."""
    case = f"{result.noun}-v12"
    return evidence(
        written(f"first {case}", 12, "a", to=case),
        ended(f"end {case}", committed=result.commits),
        refused_write(f"early {case}", 12, CONCURRENT, "early", to=case),
        written(f"later {case}", 12, "b", base_offset=2, to=case),
        ended(f"next end {case}", epoch=1),
        logs={case: log(data(7, 0, "a"), marker(result, 1), data(7, 1, "b"), commit(7, 2))},
        faults=(gate(case, "hold"),),
        samples=(sample(f"before {case}", case, 1, 0),),
    )


GOOD, ABORTED = map(in_turn, TransactionResult)
CASE = "commit-v12"
_JOINED = log(data(7, 0, "a"), data(7, 1, "b"), marker(TransactionResult.COMMIT, 1), commit(7, 2))

REQUIREMENT = Requirement(
    id="KIP890-IMPL-11",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="A write in a new epoch does not join the transaction of the old epoch that is open on its partition.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, ABORTED),
    refuses=(
        Refusal("early-write-accepted", GOOD.with_step(f"early {CASE}", error=0)),
        Refusal("wrong-error", GOOD.with_step(f"early {CASE}", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("unanswered", GOOD.with_step(f"early {CASE}", error=None)),
        Refusal("appended-before-marker", GOOD.with_sample(f"before {CASE}", high_watermark=2)),
        Refusal("refused-after-marker", GOOD.with_step(f"end {CASE}", error=CONCURRENT)),
        Refusal("refused-after-marker", GOOD.with_step(f"later {CASE}", error=CONCURRENT)),
        Refusal("refused-after-marker", GOOD.with_step(f"next end {CASE}", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("mixed-transactions", GOOD.with_log(CASE, _JOINED, committed=("a", "b"))),
        *unsound(GOOD, CASE),
    ),
    refuted_by=(
        Failpoint(rules=JOINED, anomaly="appended-before-marker"),
        Failpoint(rules=JOINED, anomaly="early-write-accepted"),
        Liar(api="Produce", instead_of=CONCURRENT, error=KafkaError.INVALID_PRODUCER_EPOCH, anomaly="wrong-error"),
        Liar(
            api="EndTxn",
            skip=1,
            at_most=1,
            instead_of=0,
            error=KafkaError.INVALID_TXN_STATE,
            anomaly="refused-after-marker",
        ),
        Failpoint(rules=JOINED, anomaly="mixed-transactions"),
    ),
)
