"""KIP890-BUMP-01: the answer to a commit carries the epoch for the next transaction, and the coordinator goes by it.

Tried twice in a row, so that the returned epoch is seen to be the one with which the producer may go on.
"""

from collections.abc import Iterator

from harness.contract import Failpoint, Level, Observation, Offers, Refusal, Requirement, Source, accepted, agree, shows
from harness.contract.byteman.transaction_metadata_rules import (
    COMMITTED_KEEPS_THE_LAST_EPOCH,
    END_NAMES_NO_PRODUCER_ID,
    END_WITHOUT_BUMP,
)
from harness.contract.doctored import commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Two transactions, one after the other, each with the epoch that the commit before it returned."""
    txn = lab.producer("victim", protocol=2)
    partition = lab.partition("P1")
    for _ in range(2):
        txn.produce(partition, as_="write")
        txn.end(commit=True, as_="commit")
        lab.reached(txn, "CompleteCommit", as_="kept")


def check(seen: Evidence) -> Iterator[Observation]:
    """Each commit returns its producer id and the next epoch; that identity is kept and accepted."""
    for write in seen.all("write"):
        yield accepted(write, otherwise="returned-epoch-refused")
    for end, kept in zip(seen.all("commit"), seen.all("kept"), strict=True):
        own, bumped = end.asked("producer_id"), end.asked("producer_epoch") + 1
        yield accepted(end, otherwise="commit-refused")
        yield shows(end, producer_id=own, otherwise="wrong-producer-id")
        yield shows(end, producer_epoch=bumped, otherwise="epoch-not-bumped")
        yield shows(
            kept, state="CompleteCommit", producer_id=own, producer_epoch=bumped, otherwise="another-identity-kept"
        )
    truth = seen.log()
    yield agree("committed values", truth.committed, truth.values(), otherwise="committed-record-not-shown")


def _transaction(epoch: int) -> Evidence:
    said = {"producer_id": 7, "producer_epoch": epoch, "committed": True}
    return evidence(
        step("write", "Produce", 12),
        step("commit", "EndTxn", 5, request=said, producer_id=7, producer_epoch=epoch + 1),
        step("kept", "DescribeTransactions", 0, state="CompleteCommit", producer_id=7, producer_epoch=epoch + 1),
    )


GOOD = evidence(
    *_transaction(0).steps,
    *_transaction(1).steps,
    logs={"P1": log(data(7, 0, "a"), commit(7, 1), data(7, 1, "b"), commit(7, 2))},
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-01",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A commit with EndTxn v5 returns the same producer id and the next epoch.",
    needs=(Offers("EndTxn", 5),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("commit-refused", GOOD.with_step("commit", error=90)),
        Refusal("wrong-producer-id", GOOD.with_step("commit", producer_id=-1)),
        Refusal("epoch-not-bumped", GOOD.with_step("commit", producer_epoch=0)),
        Refusal("another-identity-kept", GOOD.with_step("kept", producer_epoch=0)),
        Refusal("another-identity-kept", GOOD.with_step("kept", state="PrepareCommit")),
        Refusal("returned-epoch-refused", GOOD.with_step("write", error=47)),
        Refusal("committed-record-not-shown", GOOD.with_log(committed=("a",))),
    ),
    refuted_by=(
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="epoch-not-bumped"),
        Failpoint(rules=COMMITTED_KEEPS_THE_LAST_EPOCH, anomaly="another-identity-kept"),
        Failpoint(rules=END_NAMES_NO_PRODUCER_ID, anomaly="wrong-producer-id"),
    ),
)
