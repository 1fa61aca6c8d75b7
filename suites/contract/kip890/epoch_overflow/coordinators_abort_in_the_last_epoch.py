"""KIP890-OVF-07: an abort that the coordinator begins itself does not break an id in its last epoch.

Two transactions are open in the last epoch. One is fenced by a new start of its client, and one outlives its timeout,
after which its client aborts it; each client then goes on, and leaves a transaction to the coordinator once more. The
KIP says what an overflow does to an end, and nothing of who asked for it: so the
client goes on as another producer, whose next transaction is looked after as any other.

4.0.0 let the epoch overflow to a negative one (KAFKA-19367). Up to 4.2 the client is given the reserved epoch 32767,
and a transaction in it is never aborted (KAFKA-20090).
"""

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
    expect,
)
from harness.contract.byteman.coordinator_rules import NO_TIMEOUT
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Release
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.last_epochs import LAST_EPOCH

TIMEOUT_MS = 1_000
ABORTED_SECONDS = 20.0
"""The timeout, twice Kafka's longest interval between two looks for such transactions, no more."""
FENCED, OVERDUE = "fenced", "overdue"


def stimulus(lab: Lab) -> None:
    """Each transaction is aborted by the coordinator, then its client goes on, and is too late once more."""
    first = lab.partition("P1")
    away = lab.cluster.topology.brokers[0]  # from then on it may abort nobody's transactions: OVF-08 asks the last one
    fenced, overdue = lab.near_the_end(count=2, protocol=2, timeout_ms=TIMEOUT_MS, coordinator=away)
    aborted = _leave_open(lab, overdue, first, OVERDUE)
    overdue.end(commit=False, as_=f"{OVERDUE}: new identity")
    fenced.produce(first, as_="left open")
    fenced.init(retry=(), adopt=False, timeout_ms=TIMEOUT_MS, as_="first start")
    lab.reached(fenced, "CompleteAbort", "Empty", as_=f"{FENCED}: aborted")
    fenced.init(timeout_ms=TIMEOUT_MS, as_=f"{FENCED}: new identity")
    for txn, name in ((overdue, OVERDUE), (fenced, FENCED)):
        txn.produce(first, as_="committed")
        txn.end(commit=True, as_="next end")
        if aborted:  # else it is known that nobody does
            _leave_open(lab, txn, first, f"{name} again")


def _leave_open(lab: Lab, txn: Producer, partition: Partition, name: str) -> bool:
    """A record, and nothing more until the coordinator has aborted it, or its time is up twice; False if it has not."""
    txn.produce(partition, as_="left open")
    kept = lab.reached(txn, "CompleteAbort", as_=f"{name}: aborted", timeout_seconds=ABORTED_SECONDS)
    return _aborted(kept)


def _aborted(kept: Step) -> bool:
    """Where nobody tells the state, it may be."""
    return kept.fields.get("state") in (None, "CompleteAbort")


def check(seen: Evidence) -> Observations:
    """Aborted each time; the next identity is another id in one of its first epochs, and it is as good as any."""
    for name in (OVERDUE, FENCED):
        given = seen[f"{name}: new identity"]
        yield expect.over(seen[f"{name}: aborted"], otherwise="never-aborted")
        yield expect.accepted(given, otherwise="no-new-identity")
        epoch = given.fields.get("producer_epoch")
        fresh = isinstance(epoch, int) and 0 <= epoch < LAST_EPOCH
        what = f"epoch {epoch} is one to go on with"
        yield expect.unless(fresh or given.error != 0, what, given, otherwise="unusable-epoch-given")
        if _aborted(seen[f"{OVERDUE}: aborted"]):
            yield expect.over(seen[f"{name} again: aborted"], otherwise="next-never-aborted")
    for step in (*seen.all("left open"), *seen.all("committed"), *seen.all("next end")):
        yield expect.accepted(step, otherwise="new-identity-refused")
    committed = [value for step in seen.all("committed") for value in step.written()]
    yield from expect.sound(seen, "P1", committed=committed)


GOOD = adopted(__file__, "KIP890-OVF-07")

REQUIREMENT = Requirement(
    id="KIP890-OVF-07",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1), overflow"),
    statement="Fencing or timing out a transaction in the last epoch does not break the transactional id.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    order=Order.LAST,
    access=(Access.LOAD,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("never-aborted", GOOD.with_step(f"{OVERDUE}: aborted", state="Ongoing")),
        Refusal("no-new-identity", GOOD.with_step(f"{FENCED}: new identity", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("unusable-epoch-given", GOOD.with_step(f"{OVERDUE}: new identity", producer_epoch=LAST_EPOCH + 1)),
        Refusal("next-never-aborted", GOOD.with_step(f"{OVERDUE} again: aborted", state="Ongoing")),
        Refusal("new-identity-refused", GOOD.with_step("left open", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("new-identity-refused", GOOD.with_step("next end", error=KafkaError.PRODUCER_FENCED)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Release(version="4.0.0", anomaly="no-new-identity"),
        Release(version="4.1.2", anomaly="unusable-epoch-given"),
        Release(version="4.1.2", anomaly="next-never-aborted"),
        Failpoint(rules=NO_TIMEOUT, anomaly="never-aborted"),
    ),
)
