"""KIP890-ATX-15: while the markers of the last transaction are being written, an add is to be tried again.

The next transaction may begin as soon as EndTxn is answered, so its first add often comes too early. That an add in the
epoch that EndTxn returned is retriable is the KIP's ("Compatibility": CONCURRENT_TRANSACTIONS); that one in the epoch
before is answered likewise, as from 4.0 on, is Kafka's. It must be refused in any case, as it must when all is over.
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
    TransactionResult,
    expect,
)
from harness.contract.byteman.adding_rules import ENDING_TRANSACTION_FENCED, ENDING_TRANSACTION_OPEN
from harness.contract.doctored import data, ended, evidence, log, marker, sample, step, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

API = "AddPartitionsToTxn"
CONCURRENT, FENCED = KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.PRODUCER_FENCED
REFUSALS = ("early add", "stale early add", "stale add")


def stimulus(lab: Lab) -> None:
    """A partition is added in the new and in the old epoch while the marker is held, and when it is written."""
    for result in TransactionResult:
        txn, case = lab.producer(protocol=2), result.noun
        slow = lab.partition(case, leader=lab.another_broker(txn.coordinator))
        lab.link(txn.coordinator, slow.leader)  # where there is none, nothing need be opened
        quick = lab.partition(f"after-{case}", leader=txn.coordinator)
        txn.write(slow)
        old = txn.epoch
        with lab.preparing(txn, slow, commit=result.commits, name=f"hold {case}", as_=f"end {case}"):
            for version in lab.offered(API, (3,)):
                txn.add(quick, version=version, as_="early add", retry=())
                txn.add(quick, version=version, epoch=old, as_="stale early add", retry=())
        lab.reached(txn, result.completed, "Empty", as_="completed")
        txn.add(quick, version=3, epoch=old, as_="stale add", retry=())
        txn.add(quick, version=3, as_="add again")
        txn.produce(quick, version=11, as_="write again")
        txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """To be tried again while the end is under way; then the new epoch may add and the old may not."""
    for result, write in zip(TransactionResult, seen.all("write again"), strict=True):
        case = result.noun
        expect.prepared(seen, f"hold {case}", end=seen[f"end {case}"])
        yield from expect.sound(seen, case, committed=seen.log(case).values() if result.commits else ())
        yield from expect.sound(seen, f"after-{case}", write.written())
    for add in seen.all("early add"):
        yield expect.refused(add, CONCURRENT, otherwise="early-add-accepted")
    for add in seen.all("stale early add"):
        yield expect.refused(add, CONCURRENT, otherwise="stale-add-accepted", code=Level.SHOULD)
    for add in seen.all("stale add"):
        yield expect.refused(add, FENCED, otherwise="stale-add-accepted")
    for add in seen.all("add again"):
        yield expect.accepted(add, otherwise="add-refused-for-good")


GOOD = evidence(
    *(ended(f"end {result.noun}", committed=result.commits) for result in TransactionResult),
    *(step(name, API, 3, error=CONCURRENT) for name in REFUSALS[:2] for _ in TransactionResult),
    *(step("stale add", API, 3, error=FENCED) for _ in TransactionResult),
    *(step("add again", API, 3) for _ in TransactionResult),
    *(written("write again", 11, result.noun, to=f"after-{result.noun}") for result in TransactionResult),
    logs={result.noun: log(data(7, 0, "a"), marker(result, 1)) for result in TransactionResult}
    | {
        f"after-{result.noun}": log(data(7, 1, result.noun), marker(TransactionResult.COMMIT, 1))
        for result in TransactionResult
    },
    samples=tuple(sample(f"hold {result.noun}", result.noun, 1, 0) for result in TransactionResult),
    held=tuple(f"hold {result.noun}" for result in TransactionResult),
)

REQUIREMENT = Requirement(
    id="KIP890-ATX-15",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan, Produce Requests"),
    statement="While the last transaction's markers are being written, an add for the next is refused as retriable.",
    needs=(Offers(API, 3), Offers("EndTxn", 5)),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("early-add-accepted", GOOD.with_step("early add", error=0)),
        *(Refusal("wrong-error", GOOD.with_step(name, error=KafkaError.INVALID_TXN_STATE)) for name in REFUSALS),
        Refusal("unanswered", GOOD.with_step("early add", error=None)),
        Refusal("stale-add-accepted", GOOD.with_step("stale early add", error=0)),
        Refusal("stale-add-accepted", GOOD.with_step("stale add", error=0)),
        Refusal("add-refused-for-good", GOOD.with_step("add again", error=FENCED)),
        *unsound(GOOD, "commit", appended=None),
        *unsound(GOOD, "abort", appended=None),
        *(refusal for result in TransactionResult for refusal in unsound(GOOD, f"after-{result.noun}")),
    ),
    refuted_by=(
        Failpoint(rules=ENDING_TRANSACTION_OPEN, anomaly="early-add-accepted"),
        Failpoint(rules=ENDING_TRANSACTION_OPEN, anomaly="stale-add-accepted"),
        Failpoint(rules=ENDING_TRANSACTION_FENCED, anomaly="wrong-error"),
        Liar(
            api="AddPartitionsToTxn", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="add-refused-for-good"
        ),
    ),
)
