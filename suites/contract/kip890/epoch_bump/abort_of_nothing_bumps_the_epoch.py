"""KIP890-BUMP-10: an abort is legal where nothing was added, and it bumps the epoch.

A new client cannot know whether its first produce added the partition before the answer was lost (KAFKA-18401), so it
must be able to abort in every state in which nothing is open.
"""

from collections.abc import Iterator

from harness.base.json_value import Json
from harness.contract import Failpoint, Level, Observation, Offers, Refusal, Requirement, Source, accepted, agree, shows
from harness.contract.byteman.coordinator_rules import EMPTY_ABORT_TAKEN_FOR_REPETITION, NO_ABORT_AFTER_COMMIT
from harness.contract.doctored import commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence, Step
from harness.lab import Lab, Producer

STATES = ("Empty", "CompleteAbort", "CompleteCommit")


def stimulus(lab: Lab) -> None:
    """Abort after InitProducerId, after that abort, and after a commit."""
    txn = lab.producer("victim", protocol=2)
    partition = lab.partition("P1")
    _abort(lab, txn, "Empty")
    _abort(lab, txn, "CompleteAbort")
    txn.produce(partition, as_="write")
    txn.end(commit=True, as_="commit")
    _abort(lab, txn, "CompleteCommit")


def _abort(lab: Lab, txn: Producer, state: str) -> None:
    lab.reached(txn, state, as_=f"before, {state}")
    txn.end(commit=False, as_=f"abort in {state}")
    lab.reached(txn, "CompleteAbort", as_=f"after, {state}")


def check(seen: Evidence) -> Iterator[Observation]:
    """Each abort is accepted with the next epoch, which is kept; the only marker is that of the commit."""
    for state in STATES:
        before, end, after = seen[f"before, {state}"], seen[f"abort in {state}"], seen[f"after, {state}"]
        own, bumped = end.asked("producer_id"), end.asked("producer_epoch") + 1
        yield shows(before, state=state, producer_epoch=bumped - 1, otherwise="wrong-state-before")
        yield accepted(end, otherwise="empty-abort-refused")
        yield shows(end, producer_id=own, otherwise="wrong-producer-id")
        yield shows(end, producer_epoch=bumped, otherwise="epoch-not-bumped")
        yield shows(after, state="CompleteAbort", partitions=[], otherwise="wrong-state-after")
        yield shows(after, producer_id=own, producer_epoch=bumped, otherwise="another-identity-kept")
    yield accepted(seen["write"], otherwise="returned-epoch-refused")
    yield accepted(seen["commit"], otherwise="commit-refused")
    epoch = seen["commit"].asked("producer_epoch") + 1
    yield agree("markers", seen.log().marks(), (("COMMIT", epoch),), otherwise="wrong-markers")


def _aborted(state: str, epoch: int) -> tuple[Step, ...]:
    said: dict[str, Json] = {"producer_id": 7, "producer_epoch": epoch}
    bumped = epoch + 1
    return (
        step(f"before, {state}", "DescribeTransactions", 0, state=state, producer_id=7, producer_epoch=epoch),
        step(f"abort in {state}", "EndTxn", 5, request=said, producer_id=7, producer_epoch=bumped),
        step(
            f"after, {state}",
            "DescribeTransactions",
            0,
            state="CompleteAbort",
            partitions=[],
            producer_id=7,
            producer_epoch=bumped,
        ),
    )


GOOD = evidence(
    *_aborted("Empty", 0),
    *_aborted("CompleteAbort", 1),
    step("write", "Produce", 12),
    step("commit", "EndTxn", 5, request={"producer_id": 7, "producer_epoch": 2}),
    *_aborted("CompleteCommit", 3),
    logs={"P1": log(data(7, 2, "a"), commit(7, 3))},
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-10",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="Aborting with EndTxn v5 when nothing was added is legal and bumps the epoch.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("wrong-state-before", GOOD.with_step("before, CompleteCommit", state="PrepareCommit")),
        Refusal("empty-abort-refused", GOOD.with_step("abort in Empty", error=48)),
        Refusal("empty-abort-refused", GOOD.with_step("abort in CompleteCommit", error=48)),
        Refusal("wrong-producer-id", GOOD.with_step("abort in Empty", producer_id=-1)),
        Refusal("epoch-not-bumped", GOOD.with_step("abort in CompleteAbort", producer_epoch=1)),
        Refusal("wrong-state-after", GOOD.with_step("after, Empty", state="PrepareAbort")),
        Refusal("another-identity-kept", GOOD.with_step("after, CompleteCommit", producer_epoch=3)),
        Refusal("returned-epoch-refused", GOOD.with_step("write", error=47)),
        Refusal("commit-refused", GOOD.with_step("commit", error=48)),
        Refusal("wrong-markers", GOOD.with_log("P1", log(data(7, 2, "a"), commit(7, 3), commit(7, 4)))),
    ),
    refuted_by=(
        Failpoint(rules=NO_ABORT_AFTER_COMMIT, anomaly="empty-abort-refused"),
        Failpoint(rules=EMPTY_ABORT_TAKEN_FOR_REPETITION, anomaly="epoch-not-bumped"),
    ),
)
