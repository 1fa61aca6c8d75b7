"""KIP890-VERIFY-10: while the last transaction is being ended, an older client's write gets an error it can retry.

A partition whose marker is written may take the next transaction's write before the coordinator is done with the other
partitions. The coordinator's CONCURRENT_TRANSACTIONS would be fatal for older clients; NOT_ENOUGH_REPLICAS with a
message is what the KIP chose instead. The message's words and the names of states are Kafka's.
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
    TransactionResult,
    expect,
)
from harness.contract.byteman.verification_rules import OLD_CLIENT_TAKEN_FOR_NEW
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import VERIFICATION, Failpoint, Release, Setting
from harness.contract.version_tables import unverified_message
from harness.lab import Lab

EARLY = KafkaError.NOT_ENOUGH_REPLICAS
MESSAGE = unverified_message(KafkaError.CONCURRENT_TRANSACTIONS)
APPENDED, HIDDEN, HANGING = "early-record-appended", "committed-view-differs", "hanging-transaction"


def stimulus(lab: Lab) -> None:
    """The marker for one partition is held between the brokers; the next write goes to the other partition."""
    for result in TransactionResult:
        txn, name = lab.producer("victim"), result.noun
        slow = lab.partition(f"slow-{name}", leader=lab.another_broker(txn.coordinator))
        quick = lab.partition(f"quick-{name}", leader=lab.another_broker(slow.leader))
        lab.link(txn.coordinator, slow.leader)  # where there is none, nothing need be opened
        txn.add(slow, quick)
        txn.produce(slow)
        txn.produce(quick, as_="write before")
        with lab.preparing(txn, slow, commit=result.commits, name=f"marker of {name}", as_=None):
            lab.completed(quick)
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"{name} while held")
            for version in lab.offered("Produce", (9, 11)):
                txn.produce(quick, as_="early write", version=version, retry=())
        txn.add(quick, as_="add again")
        txn.produce(quick, as_="write again")
        txn.end(commit=True, as_="end again")


def check(seen: Evidence) -> Observations:
    """Refused as retriable with the reason while the marker is held; after it, the same write is committed."""
    for result, before, again in zip(TransactionResult, seen.all("write before"), seen.all("write again"), strict=True):
        expect.prepared(seen, f"marker of {result.noun}")
        kept = seen[f"{result.noun} while held"]
        yield expect.habit(expect.keeps(kept, state=result.prepared))
        values = before.written() + again.written()
        shown = values if result.commits else again.written()
        where = f"quick-{result.noun}"
        yield from expect.sound(seen, where, values, committed=shown, appended=APPENDED, shown=HIDDEN, stuck=HANGING)
    for early in seen.all("early write"):
        yield expect.refused(early, EARLY, otherwise="early-write-accepted", message=MESSAGE)
    for name in ("add again", "write again", "end again"):
        for step_again in seen.all(name):
            yield expect.accepted(step_again, otherwise="retry-refused")


GOOD = adopted(__file__, "KIP890-VERIFY-10")

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-10",
    source=Source(890, "Old Clients / Produce Requests (NOT_ENOUGH_REPLICAS)"),
    statement="While the coordinator is ending the last transaction, an older client's write gets a retriable error.",
    needs=(Offers("Produce", 9),),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("wrong-state-kept", GOOD.with_step("abort while held", state="CompleteAbort")),
        Refusal("early-write-accepted", GOOD.with_step("early write", error=0)),
        Refusal("wrong-error", GOOD.with_step("early write", error=KafkaError.CONCURRENT_TRANSACTIONS)),
        Refusal("no-message", GOOD.with_step("early write", error_message=None)),
        Refusal("wrong-message", GOOD.with_step("early write", error_message="another text")),
        Refusal("unanswered", GOOD.with_step("early write", error=None)),
        Refusal("retry-refused", GOOD.with_step("write again", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, "quick-commit", appended=APPENDED, shown=HIDDEN, stuck=HANGING),
        *unsound(GOOD, "quick-abort", appended=APPENDED, shown=HIDDEN, stuck=HANGING),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="early-write-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="early-record-appended"),
        Failpoint(rules=OLD_CLIENT_TAKEN_FOR_NEW, anomaly="wrong-error"),
    ),
)
