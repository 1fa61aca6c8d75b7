"""KIP890-BUMP-10: an abort is legal where nothing was added, and it bumps the epoch.

A new client cannot know whether its first produce added the partition before the answer was lost (KAFKA-18401), so it
must be able to abort in every state in which nothing is open. The KIP's text does not say so, only Kafka does it so:
the requirement is a SHOULD.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import EMPTY_ABORT_TAKEN_FOR_REPETITION, NO_ABORT_AFTER_COMMIT
from harness.contract.doctored import adopted, commit, log, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

STATES = ("Empty", "CompleteAbort", "CompleteCommit")
INVALID = KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """Abort after InitProducerId, after that abort, and after a commit."""
    txn, partition = lab.producer(protocol=2), lab.partition("P1")
    for state in STATES:
        if state == "CompleteCommit":
            txn.produce(partition, as_="write")
            txn.end(commit=True, as_="commit")
        lab.reached(txn, state, as_=f"before, {state}")
        txn.end(commit=False, as_=f"abort in {state}")
        lab.reached(txn, "CompleteAbort", as_=f"after, {state}")


def check(seen: Evidence) -> Observations:
    """Each abort is accepted with the next epoch, which is kept; the only marker is that of the commit."""
    for state in STATES:
        before, end, after = seen[f"before, {state}"], seen[f"abort in {state}"], seen[f"after, {state}"]
        own, bumped = end.request_int("producer_id"), end.request_int("producer_epoch") + 1
        yield expect.over(before, otherwise="wrong-state-before")
        yield expect.accepted(end, otherwise="empty-abort-refused")
        yield expect.shows(end, producer_id=own, otherwise="wrong-producer-id")
        yield expect.shows(end, producer_epoch=bumped, otherwise="epoch-not-bumped")
        yield expect.over(after, otherwise="wrong-state-after")
        yield expect.keeps(after, producer_id=own, epoch=bumped, partitions=(), otherwise="another-identity-kept")
    end = seen["commit"]
    yield expect.accepted(seen["write"], otherwise="returned-epoch-refused")
    yield expect.accepted(end, otherwise="commit-refused")
    yield from expect.sound(seen, committed=expect.values(seen, "write"), markers=(("COMMIT",),))


GOOD = adopted(__file__, "KIP890-BUMP-10")
COMMITTED = GOOD.log().committed
_UNWRITTEN = GOOD.with_step("write", error=KafkaError.INVALID_PRODUCER_EPOCH).with_log("P1", committed=())

REQUIREMENT = Requirement(
    id="KIP890-BUMP-10",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="Aborting with EndTxn v5 when nothing was added is legal and bumps the epoch.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    level=Level.SHOULD,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("wrong-state-before", GOOD.with_step("before, CompleteCommit", state="PrepareCommit")),
        *(Refusal("empty-abort-refused", GOOD.with_step(f"abort in {state}", error=INVALID)) for state in STATES),
        Refusal("wrong-producer-id", GOOD.with_step("abort in Empty", producer_id=-1)),
        Refusal("epoch-not-bumped", GOOD.with_step("abort in CompleteAbort", producer_epoch=1)),
        Refusal("wrong-state-after", GOOD.with_step("after, Empty", state="PrepareAbort")),
        Refusal("another-identity-kept", GOOD.with_step("after, CompleteCommit", producer_epoch=3)),
        Refusal("returned-epoch-refused", _UNWRITTEN),
        Refusal("commit-refused", GOOD.with_step("commit", error=INVALID)),
        Refusal("wrong-markers", GOOD.with_log("P1", log(*GOOD.log().batches, commit(7, 4)), committed=COMMITTED)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=NO_ABORT_AFTER_COMMIT, anomaly="empty-abort-refused"),
        Failpoint(rules=EMPTY_ABORT_TAKEN_FOR_REPETITION, anomaly="epoch-not-bumped"),
        Liar(api="DescribeTransactions", fields={"transaction_state": "PrepareAbort"}, anomaly="wrong-state-before"),
        Liar(api="DescribeTransactions", fields={"transaction_state": "PrepareAbort"}, anomaly="wrong-state-after"),
    ),
)
