"""KIP890-RETRY-03, -05: while markers are being written, a repeated end is to be tried again, and so is the opposite.

The markers of a commit, and of an abort, are held on their way; meanwhile another producer's transaction is open on the
same partition. When they are written, the repetition is answered with the bumped identity, and the opposite is refused:
what was decided stands.

The KIP lets a repetition be answered with the new identity already then («PREPARE: … we can return»), so that is no
broken promise; an opposite end must not be accepted. That both get CONCURRENT_TRANSACTIONS is Kafka's habit, which looks
at a pending transition before it looks at the state.
"""

from functools import partial

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Refuter,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import (
    END_KNOWS_NO_REPETITION,
    OPPOSITE_END_TAKEN_FOR_REPETITION,
    REPETITION_GETS_THE_OLD_EPOCH,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

ENDING, WRONG_STATE = KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab, same: bool) -> None:
    """A transaction of each kind; its end, or the opposite, is asked for while it ends and afterwards."""
    partition, other = lab.partition("P1"), lab.producer("rival", protocol=2)
    other.produce(partition, as_="other write")
    for result in Result:
        txn = lab.producer("victim", protocol=2)
        txn.produce(partition, as_=f"write before {result.noun}")
        epoch, asked = txn.epoch, result if same else result.opposite
        with lab.preparing(txn, partition, commit=result.commits, name=result.noun):
            for _ in range(2):
                txn.end(commit=asked.commits, epoch=epoch, as_="while ending", retry=())
        lab.reached(txn, result.completed, as_="ended")
        txn.end(commit=asked.commits, epoch=epoch, as_="afterwards", retry=())
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    other.end(commit=True, as_="other end")


def check(seen: Evidence, same: bool) -> Observations:
    """Retriable while it ends; then the same is accepted and the opposite refused; one marker each."""
    for end in (*seen.all("end"), seen["other end"]):
        yield expect.accepted(end, otherwise="end-refused")
    for end in seen.all("end"):
        expect.prepared(seen, Result.of(end.request["committed"]).noun, end=end)
    for early in seen.all("while ending"):
        yield from _repeated_early(early) if same else _opposed_early(early)
    for later in seen.all("afterwards"):
        yield from _repeated(later) if same else _opposed(later)
    for ended, kept in zip(seen.all("ended"), seen.all("kept"), strict=True):
        yield expect.over(ended)
        yield expect.unchanged(ended, kept, "state", "producer_epoch", otherwise="decision-changed")
    shown = ("other write", "write before commit")
    yield from expect.sound(seen, committed=[seen[name].written()[0] for name in shown])
    yield expect.marks(seen, "P1", ("COMMIT",), ("ABORT",), ("COMMIT",))


def _repeated_early(early: Step) -> Observations:
    if early.error == 0:
        yield _bumped(early)
    yield expect.habit(expect.refused(early, ENDING, otherwise="answered-before-complete"))


def _repeated(later: Step) -> Observations:
    yield expect.accepted(later, otherwise="repetition-refused")
    if later.error == 0:
        yield _bumped(later)


def _bumped(step: Step) -> expect.Observation:
    return expect.identity(step, step.request_int("producer_id"), step.request_int("producer_epoch") + 1)


def _opposed_early(early: Step) -> Observations:
    yield expect.refused(early, ENDING, code=Level.SHOULD, otherwise="opposite-end-accepted")


def _opposed(later: Step) -> Observations:
    yield expect.refused(later, WRONG_STATE, code=Level.SHOULD, otherwise="opposite-end-accepted")


def _requirement(
    id_: str, statement: str, good: Evidence, refuses: tuple[Refusal, ...], refuted_by: tuple[Refuter, ...]
) -> Requirement[Lab]:
    same, unended = good is SAME, good.with_step("ended", state="PrepareAbort")
    return Requirement(
        id=id_,
        source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
        statement=statement,
        needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
        order=Order.HOLDS_LINKS,
        access=(Access.LINKS,),
        stimulus=partial(stimulus, same=same),
        check=partial(check, same=same),
        accepts=(good,),
        refuses=(
            Refusal("end-refused", good.with_step("end", error=KafkaError.PRODUCER_FENCED)),
            Refusal("transaction-not-over", unended.with_step("kept", state="PrepareAbort")),
            Refusal("decision-changed", good.with_step("kept", producer_epoch=2)),
            Refusal("wrong-markers", good.with_log("P1", batches=good.log().batches[:-1])),
            *unsound(good, appended=None),
            *refuses,
        ),
        refuted_by=refuted_by,
    )


SAME, OPPOSITE = adopted(__file__, "KIP890-RETRY-03"), adopted(__file__, "KIP890-RETRY-05")

REQUIREMENTS = (
    _requirement(
        "KIP890-RETRY-03",
        "A repeated end during the marker phase is answered as one to try again, and then as done.",
        SAME,
        refuses=(
            Refusal(
                "answered-before-complete", SAME.with_step("while ending", error=0, producer_id=7, producer_epoch=1)
            ),
            Refusal("wrong-error", SAME.with_step("while ending", error=WRONG_STATE)),
            Refusal("wrong-identity-returned", SAME.with_step("while ending", error=0)),
            Refusal("repetition-refused", SAME.with_step("afterwards", error=WRONG_STATE)),
            Refusal("wrong-identity-returned", SAME.with_step("afterwards", producer_epoch=0)),
        ),
        refuted_by=(
            Failpoint(rules=END_KNOWS_NO_REPETITION, anomaly="repetition-refused"),
            Failpoint(rules=REPETITION_GETS_THE_OLD_EPOCH, anomaly="wrong-identity-returned"),
        ),
    ),
    _requirement(
        "KIP890-RETRY-05",
        "The opposite end during the marker phase is answered as one to try again, and then refused.",
        OPPOSITE,
        refuses=(
            Refusal("opposite-end-accepted", OPPOSITE.with_step("while ending", error=0)),
            Refusal("opposite-end-accepted", OPPOSITE.with_step("afterwards", error=0)),
            Refusal("wrong-error", OPPOSITE.with_step("while ending", error=WRONG_STATE)),
            Refusal("unanswered", OPPOSITE.with_step("while ending", error=None)),
        ),
        refuted_by=(Failpoint(rules=OPPOSITE_END_TAKEN_FOR_REPETITION, anomaly="opposite-end-accepted"),),
    ),
)
