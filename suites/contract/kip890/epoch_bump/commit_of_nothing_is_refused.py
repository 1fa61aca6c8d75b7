"""KIP890-BUMP-11: a commit where nothing was added is refused and changes nothing.

A client that believes it wrote something would otherwise be told that it is committed.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import EMPTY_COMMIT_CHANGES_THE_EPOCH, EMPTY_COMMIT_TAKEN_FOR_ABORT
from harness.contract.doctored import adopted, commit, log
from harness.contract.refuters import Failpoint
from harness.lab import Lab

STATES = ("Empty", "CompleteCommit", "CompleteAbort")
INVALID = KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """Commit after InitProducerId, after a commit and after an abort, each time in the current epoch."""
    txn, partition = lab.producer(protocol=2), lab.partition("P1")
    for state in STATES:
        if state != "Empty":
            txn.produce(partition, as_="write")
            txn.end(commit=state == "CompleteCommit", as_="end")
        epoch = txn.epoch
        lab.reached(txn, state, as_=f"before, {state}")
        txn.end(commit=True, as_=f"commit in {state}")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"after, {state}")
        txn.become(txn.producer_id, epoch)


def check(seen: Evidence) -> Observations:
    """Each commit is refused without an identity; state and epoch are as before; no marker is written for it."""
    for state in STATES:
        before, end, after = seen[f"before, {state}"], seen[f"commit in {state}"], seen[f"after, {state}"]
        own, epoch = end.request_int("producer_id"), end.request_int("producer_epoch")
        yield expect.keeps(before, state=state, epoch=epoch, otherwise="wrong-state-before")
        yield expect.refused(end, INVALID, otherwise="empty-commit-accepted")
        yield expect.identity(end, -1, -1, otherwise="identity-returned")
        yield expect.keeps(after, producer_id=own, epoch=epoch, otherwise="epoch-changed")
        yield expect.keeps(after, state=state, otherwise="state-changed")
    for after_refusal in (*seen.all("write"), *seen.all("end")):
        yield expect.accepted(after_refusal, otherwise="next-transaction-refused")
    yield expect.marks(seen, "P1", ("COMMIT",), ("ABORT",))


GOOD = adopted(__file__, "KIP890-BUMP-11")

REQUIREMENT = Requirement(
    id="KIP890-BUMP-11",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="Committing with EndTxn v5 when nothing was added is refused and leaves the epoch as it was.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("wrong-state-before", GOOD.with_step("before, CompleteAbort", state="PrepareAbort")),
        *(Refusal("empty-commit-accepted", GOOD.with_step(f"commit in {state}", error=0)) for state in STATES),
        Refusal("wrong-error", GOOD.with_step("commit in CompleteAbort", error=KafkaError.PRODUCER_FENCED)),
        Refusal("unanswered", GOOD.with_step("commit in Empty", error=None)),
        Refusal("identity-returned", GOOD.with_step("commit in Empty", producer_epoch=0)),
        Refusal("epoch-changed", GOOD.with_step("after, Empty", producer_epoch=1)),
        Refusal("state-changed", GOOD.with_step("after, CompleteAbort", state="CompleteCommit")),
        Refusal("next-transaction-refused", GOOD.with_step("write", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("wrong-markers", GOOD.with_log("P1", log(*GOOD.log().batches, commit(7, 3)))),
    ),
    refuted_by=(
        Failpoint(rules=EMPTY_COMMIT_TAKEN_FOR_ABORT, anomaly="empty-commit-accepted"),
        Failpoint(rules=EMPTY_COMMIT_CHANGES_THE_EPOCH, anomaly="epoch-changed"),
    ),
)
