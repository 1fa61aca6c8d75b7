"""KIP890-RETRY-03: an end that is repeated while markers are being written is to be tried again, and then done.

The markers of a commit, and of an abort, are held on their way; meanwhile another producer's transaction is open on the
same partition. When they are written, the repetition is answered with the bumped identity.

The KIP lets a repetition be answered with that identity already before («PREPARE: … we can return (with the new
epoch)»), so that CONCURRENT_TRANSACTIONS until then is Kafka's habit; another identity would be wrong.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observation,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import END_KNOWS_NO_REPETITION, REPETITION_GETS_THE_OLD_EPOCH
from harness.contract.doctored import adopted, unsound
from harness.contract.expect import Finding
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """A transaction of each kind; its end is asked for twice more while it ends and once afterwards."""
    partition, other = lab.partition("P1"), lab.producer("rival", protocol=2)
    other.produce(partition, as_="other write")
    for result in Result:
        txn = lab.producer("victim", protocol=2)
        txn.produce(partition, as_=f"write before {result.noun}")
        epoch, asked = txn.epoch, result.commits
        with lab.preparing(txn, partition, commit=result.commits, name=result.noun):
            for _ in range(2):
                txn.end(commit=asked, epoch=epoch, as_="while ending", retry=())
        lab.reached(txn, result.completed, as_="ended")
        txn.end(commit=asked, epoch=epoch, as_="afterwards", retry=())
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    other.end(commit=True, as_="other end")


def check(seen: Evidence) -> Observations:
    """Retriable, or done already; then done, with the bumped identity."""
    for end in (*seen.all("end"), seen["other end"]):
        yield expect.accepted(end, otherwise="end-refused")
    for end in seen.all("end"):
        expect.prepared(seen, Result.of(end.request["committed"]).noun, end=end)
    for early in seen.all("while ending"):
        yield _early(early)
    for later in seen.all("afterwards"):
        yield expect.accepted(later, otherwise="repetition-refused")
        if later.error == 0:
            yield _bumped(later)
    for ended, kept in zip(seen.all("ended"), seen.all("kept"), strict=True):
        yield expect.over(ended)
        yield expect.unchanged(ended, kept, "state", "producer_epoch", otherwise="decision-changed")
    yield from expect.sound(seen, committed=expect.values(seen, "other write", "write before commit"))
    yield expect.marks(seen, "P1", ("COMMIT",), ("ABORT",), ("COMMIT",))


def _early(early: Step) -> Observation:
    """Done with the right identity is as the KIP has it, but not as Kafka does."""
    told = _bumped(early) if early.error == 0 else None
    if isinstance(told, Finding):
        return told
    retriable = expect.refused(early, KafkaError.CONCURRENT_TRANSACTIONS, otherwise="answered-before-complete")
    return expect.habit(retriable)


def _bumped(step: Step) -> Observation:
    return expect.identity(step, step.request_int("producer_id"), step.request_int("producer_epoch") + 1)


GOOD = adopted(__file__, "KIP890-RETRY-03")
_ASKED = {"producer_id": 7, "producer_epoch": 0}
EARLY = GOOD.with_step("while ending", error=0, request=_ASKED, producer_id=7, producer_epoch=1)


REQUIREMENT = Requirement(
    id="KIP890-RETRY-03",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A repeated end during the marker phase is answered as one to try again, and then as done.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("answered-before-complete", EARLY),
        Refusal("wrong-error", GOOD.with_step("while ending", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-identity-returned", EARLY.with_step("while ending", producer_epoch=0)),
        Refusal("repetition-refused", GOOD.with_step("afterwards", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-identity-returned", GOOD.with_step("afterwards", producer_epoch=0)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="Ongoing").with_step("kept", state="Ongoing")),
        Refusal("decision-changed", GOOD.with_step("kept", producer_epoch=2)),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log().batches[:-1])),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=END_KNOWS_NO_REPETITION, anomaly="repetition-refused"),
        Failpoint(rules=REPETITION_GETS_THE_OLD_EPOCH, anomaly="wrong-identity-returned"),
    ),
)
