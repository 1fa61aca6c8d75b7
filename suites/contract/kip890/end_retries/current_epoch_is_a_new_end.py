"""KIP890-RETRY-06: after completion the returned epoch ends the next transaction; it repeats nothing.

After a commit and after an abort, the epoch that was returned asks for a commit of what was never begun, which is
refused: to call it done would be to tell a client that its lost transaction was committed. An abort in that epoch is
a new one and moves on to the epoch after, which then writes. The epoch before is a repetition of what it ended.

That the epoch, and not the state alone, tells a repetition from a new end is the KIP's; that an abort of nothing is
accepted at all (KIP890-BUMP-10), and a commit of nothing refused (KIP890-BUMP-11), is Kafka's.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import (
    CURRENT_EPOCH_TAKEN_FOR_REPETITION,
    EMPTY_ABORT_TAKEN_FOR_REPETITION,
    EMPTY_COMMIT_TAKEN_FOR_ABORT,
    NO_ABORT_AFTER_COMMIT,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

WRONG_STATE = KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """After each kind of end: commit and abort in the returned epoch, the abort again, and a write in the last one."""
    partition = lab.partition("P1")
    for result in Result:
        txn = lab.producer(protocol=2)
        txn.produce(partition, as_=f"write before {result.noun}")
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="ended")
        current = txn.epoch
        txn.end(commit=True, as_="empty commit", retry=())
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="after empty commit")
        txn.end(commit=False, as_="empty abort")
        lab.reached(txn, "CompleteAbort", as_="after empty abort")
        txn.end(commit=False, epoch=current, as_="empty abort again")
        txn.produce(partition, as_="next write")
        txn.end(commit=True, as_="next end")
        lab.reached(txn, "CompleteCommit", as_="ended")


def check(seen: Evidence) -> Observations:
    """The empty commit is refused and changes nothing; the abort bumps once, also when it is repeated."""
    for end in (*seen.all("end"), *seen.all("next end"), *seen.all("next write")):
        yield expect.accepted(end, otherwise="next-transaction-refused")
    for ended in seen.all("ended"):
        yield expect.over(ended)
    for commit, after in zip(seen.all("empty commit"), seen.all("after empty commit"), strict=True):
        yield expect.habit(expect.refused(commit, WRONG_STATE, otherwise="empty-commit-accepted"))
        if commit.error != 0:
            yield expect.keeps(after, epoch=commit.request_int("producer_epoch"), otherwise="epoch-changed")
    for name in ("empty abort", "empty abort again"):
        for abort in seen.all(name):
            own, epoch = abort.request_int("producer_id"), abort.request_int("producer_epoch")
            yield expect.habit(expect.accepted(abort, otherwise="empty-abort-refused"))
            if abort.error == 0:
                yield expect.identity(abort, own, epoch + 1)
    for after, abort in zip(seen.all("after empty abort"), seen.all("empty abort"), strict=True):
        yield expect.habit(expect.keeps(after, epoch=abort.request_int("producer_epoch") + 1))
    yield from expect.sound(seen, committed=expect.values(seen, "write before commit", "next write"))
    yield expect.marks(seen, "P1", ("COMMIT",), ("COMMIT",), ("ABORT",), ("COMMIT",))


GOOD = adopted(__file__, "KIP890-RETRY-06")
_UNWRITTEN = GOOD.with_step("next write", error=KafkaError.INVALID_PRODUCER_EPOCH).with_log(
    "P1", committed=expect.values(GOOD, "write before commit")
)

REQUIREMENT = Requirement(
    id="KIP890-RETRY-06",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="After completion an end in the returned epoch is a new one, not a repetition.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("next-transaction-refused", _UNWRITTEN),
        Refusal("next-transaction-refused", GOOD.with_step("next end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="Ongoing")),
        Refusal("empty-commit-accepted", GOOD.with_step("empty commit", error=0)),
        Refusal("wrong-error", GOOD.with_step("empty commit", error=KafkaError.PRODUCER_FENCED)),
        Refusal("epoch-changed", GOOD.with_step("after empty commit", producer_epoch=7)),
        Refusal("empty-abort-refused", GOOD.with_step("empty abort again", error=WRONG_STATE)),
        Refusal("wrong-identity-returned", GOOD.with_step("empty abort", producer_epoch=1)),
        Refusal("wrong-state-kept", GOOD.with_step("after empty abort", producer_epoch=7)),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log().batches[:-1])),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=CURRENT_EPOCH_TAKEN_FOR_REPETITION, anomaly="empty-commit-accepted"),
        Failpoint(rules=EMPTY_COMMIT_TAKEN_FOR_ABORT, anomaly="empty-commit-accepted"),
        Failpoint(rules=NO_ABORT_AFTER_COMMIT, anomaly="empty-abort-refused"),
        Failpoint(rules=EMPTY_ABORT_TAKEN_FOR_REPETITION, anomaly="wrong-identity-returned"),
    ),
)
