"""KIP890-BUMP-11: a commit where nothing was added is refused and changes nothing.

A client that believes it wrote something would otherwise be told that it is committed.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    refused,
    shows,
)
from harness.contract.byteman.coordinator_rules import EMPTY_COMMIT_CHANGES_THE_EPOCH, EMPTY_COMMIT_TAKEN_FOR_ABORT
from harness.contract.doctored import abort, commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence, Step
from harness.lab import Lab, Producer

STATES = ("Empty", "CompleteCommit", "CompleteAbort")


def stimulus(lab: Lab) -> None:
    """Commit after InitProducerId, after a commit and after an abort, each time in the current epoch."""
    txn = lab.producer("victim", protocol=2)
    partition = lab.partition("P1")
    _commit(lab, txn, "Empty")
    for commits, state in ((True, "CompleteCommit"), (False, "CompleteAbort")):
        txn.produce(partition, as_="write")
        txn.end(commit=commits, as_="end")
        _commit(lab, txn, state)


def _commit(lab: Lab, txn: Producer, state: str) -> None:
    epoch = txn.epoch
    lab.reached(txn, state, as_=f"before, {state}")
    txn.end(commit=True, as_=f"commit in {state}")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"after, {state}")
    txn.become(txn.producer_id, epoch)


def check(seen: Evidence) -> Iterator[Observation]:
    """Each commit is refused with 48 and no identity; state and epoch are as before; no marker is written for it."""
    for state in STATES:
        before, end, after = seen[f"before, {state}"], seen[f"commit in {state}"], seen[f"after, {state}"]
        own, epoch = end.asked("producer_id"), end.asked("producer_epoch")
        yield shows(before, state=state, producer_epoch=epoch, otherwise="wrong-state-before")
        yield refused(end, 48, otherwise="empty-commit-accepted")
        yield shows(end, producer_id=-1, producer_epoch=-1, otherwise="identity-returned")
        yield shows(after, producer_id=own, producer_epoch=epoch, otherwise="epoch-changed")
        yield shows(after, state=state, otherwise="state-changed")
    for after_refusal in (*seen.all("write"), *seen.all("end")):
        yield accepted(after_refusal, otherwise="next-transaction-refused")
    kinds = tuple(kind for kind, _ in seen.log().marks())
    yield agree("markers", kinds, ("COMMIT", "ABORT"), otherwise="wrong-markers")


def _committed(state: str, epoch: int) -> tuple[Step, ...]:
    said = {"producer_id": 7, "producer_epoch": epoch, "committed": True}
    return (
        step(f"before, {state}", "DescribeTransactions", 0, state=state, producer_id=7, producer_epoch=epoch),
        step(f"commit in {state}", "EndTxn", 5, error=48, request=said, producer_id=-1, producer_epoch=-1),
        step(f"after, {state}", "DescribeTransactions", 0, state=state, producer_id=7, producer_epoch=epoch),
    )


GOOD = evidence(
    *_committed("Empty", 0),
    step("write", "Produce", 12),
    step("end", "EndTxn", 5),
    *_committed("CompleteCommit", 1),
    *_committed("CompleteAbort", 2),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1), data(7, 1, "b"), abort(7, 2))},
)
_STRAY = log(data(7, 0, "a"), commit(7, 1), commit(7, 2), data(7, 1, "b"), abort(7, 2))

REQUIREMENT = Requirement(
    id="KIP890-BUMP-11",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="Committing with EndTxn v5 when nothing was added is refused and leaves the epoch as it was.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("wrong-state-before", GOOD.with_step("before, CompleteAbort", state="PrepareAbort")),
        Refusal("empty-commit-accepted", GOOD.with_step("commit in Empty", error=0)),
        Refusal("empty-commit-accepted", GOOD.with_step("commit in CompleteCommit", error=0)),
        Refusal("wrong-error", GOOD.with_step("commit in CompleteAbort", error=90)),
        Refusal("unanswered", GOOD.with_step("commit in Empty", error=None)),
        Refusal("identity-returned", GOOD.with_step("commit in Empty", producer_epoch=0)),
        Refusal("epoch-changed", GOOD.with_step("after, Empty", producer_epoch=1)),
        Refusal("state-changed", GOOD.with_step("after, CompleteAbort", state="CompleteCommit")),
        Refusal("next-transaction-refused", GOOD.with_step("write", error=47)),
        Refusal("wrong-markers", GOOD.with_log("P1", _STRAY)),
    ),
    refuted_by=(
        Failpoint(rules=EMPTY_COMMIT_TAKEN_FOR_ABORT, anomaly="empty-commit-accepted"),
        Failpoint(rules=EMPTY_COMMIT_CHANGES_THE_EPOCH, anomaly="epoch-changed"),
    ),
)
