"""KIP890-RETRY-05: the opposite end while markers are being written is to be tried again, and then refused.

The markers of a commit, and of an abort, are held on their way; meanwhile another producer's transaction is open on the
same partition. What was decided stands: the opposite is never accepted, before or after.

That it is not accepted is the KIP's («issuing the same command (ie commit not abort)»). That it is told to try again
while the transaction ends is Kafka's habit, which looks at a pending transition before it looks at the state.
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
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import (
    DECISION_MAY_CHANGE_WHILE_ENDING,
    OPPOSITE_END_TAKEN_FOR_REPETITION,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

ENDING, WRONG_STATE = KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """A transaction of each kind; the opposite is asked for twice while it ends and once afterwards."""
    partition, other = lab.partition("P1"), lab.producer("rival", protocol=2)
    other.produce(partition, as_="other write")
    for result in Result:
        txn = lab.producer("victim", protocol=2)
        txn.produce(partition, as_=f"write before {result.noun}")
        epoch, asked = txn.epoch, result.opposite.commits
        with lab.preparing(txn, partition, commit=result.commits, name=result.noun):
            for _ in range(2):
                txn.end(commit=asked, epoch=epoch, as_="while ending", retry=())
        lab.reached(txn, result.completed, as_="ended")
        txn.end(commit=asked, epoch=epoch, as_="afterwards", retry=())
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    other.end(commit=True, as_="other end")


def check(seen: Evidence) -> Observations:
    """Refused so that it is tried again, then for good; one marker each."""
    for end in (*seen.all("end"), seen["other end"]):
        yield expect.accepted(end, otherwise="end-refused")
    for end in seen.all("end"):
        expect.prepared(seen, Result.of(end.request["committed"]).noun, end=end)
    for early in seen.all("while ending"):
        yield expect.refused(early, ENDING, code=Level.SHOULD, otherwise="opposite-end-accepted")
    for later in seen.all("afterwards"):
        yield expect.refused(later, WRONG_STATE, code=Level.SHOULD, otherwise="opposite-end-accepted")
    for ended, kept in zip(seen.all("ended"), seen.all("kept"), strict=True):
        yield expect.over(ended)
        yield expect.unchanged(ended, kept, "state", "producer_epoch", otherwise="decision-changed")
    yield from expect.sound(seen, committed=expect.values(seen, "other write", "write before commit"))
    yield expect.marks(seen, "P1", ("COMMIT",), ("ABORT",), ("COMMIT",))


GOOD = adopted(__file__, "KIP890-RETRY-05")


REQUIREMENT = Requirement(
    id="KIP890-RETRY-05",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="The opposite end during the marker phase is answered as one to try again, and then refused.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("opposite-end-accepted", GOOD.with_step("while ending", error=0)),
        Refusal("opposite-end-accepted", GOOD.with_step("afterwards", error=0)),
        Refusal("wrong-error", GOOD.with_step("while ending", error=WRONG_STATE)),
        Refusal("wrong-error", GOOD.with_step("afterwards", error=ENDING)),
        Refusal("unanswered", GOOD.with_step("while ending", error=None)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="Ongoing").with_step("kept", state="Ongoing")),
        Refusal("decision-changed", GOOD.with_step("kept", producer_epoch=2)),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log().batches[:-1])),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=OPPOSITE_END_TAKEN_FOR_REPETITION, anomaly="opposite-end-accepted"),
        Failpoint(rules=DECISION_MAY_CHANGE_WHILE_ENDING, anomaly="opposite-end-accepted"),
    ),
)
