"""KIP890-RETRY-08: an end of version 4 or older, in the epoch of a transaction that version 5 ended, is fenced.

A client that falls back to the old protocol asks again in the epoch in which the new one ended the transaction. Old
versions carry no identity in the answer, so that such a client would never learn its epoch. Asked for after completion
and once more while the next transaction is open, which it must not end; the kind that was decided and the opposite.

The KIP bumps the epoch so that late requests are fenced; the code is Kafka's, which demands the very epoch of versions
up to 4.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import ANY_EPOCH_MAY_END
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.lab import Lab, Producer


def stimulus(lab: Lab) -> None:
    """A transaction of each kind, and a next one; old ends in the first one's epoch after it and during the next."""
    partition = lab.partition("P1")
    for result in Result:
        txn = lab.producer(protocol=2)
        txn.produce(partition, as_=f"write before {result.noun}")
        before = txn.epoch
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="ended")
        _ask(lab, txn, before)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
        txn.produce(partition, as_="next write")
        _ask(lab, txn, before)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="still open")
        txn.end(commit=True, as_="next end")


def _ask(lab: Lab, txn: Producer, epoch: int) -> None:
    for version in lab.offered("EndTxn", range(5)):
        for result in Result:
            txn.end(commit=result.commits, epoch=epoch, version=version, as_="old end")


def check(seen: Evidence) -> Observations:
    """Every old end is refused, and no state or record changes."""
    for mine in (*seen.all("end"), *seen.all("next write"), *seen.all("next end")):
        yield expect.accepted(mine, otherwise="own-transaction-disturbed")
    for old in seen.all("old end"):
        yield expect.refused(old, fenced("EndTxn", old.version), code=Level.SHOULD, otherwise="old-end-accepted")
    for ended, kept in zip(seen.all("ended"), seen.all("kept"), strict=True):
        yield expect.over(ended)
        yield expect.unchanged(ended, kept, "state", "producer_epoch", otherwise="decision-changed")
    for still in seen.all("still open"):
        yield expect.keeps(still, state="Ongoing", partitions=("P1",), otherwise="next-transaction-ended")
    yield from expect.sound(seen, committed=expect.values(seen, "write before commit", "next write"))
    yield expect.marks(seen, "P1", ("COMMIT",), ("COMMIT",), ("ABORT",), ("COMMIT",))


GOOD = adopted(__file__, "KIP890-RETRY-08")

REQUIREMENT = Requirement(
    id="KIP890-RETRY-08",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A repetition with EndTxn v4 of a transaction that was ended with v5 is fenced.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("own-transaction-disturbed", GOOD.with_step("next end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("old-end-accepted", GOOD.with_step("old end", error=0)),
        Refusal("wrong-error", GOOD.with_step("old end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("old end", error=None)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="Ongoing").with_step("kept", state="Ongoing")),
        Refusal("decision-changed", GOOD.with_step("kept", producer_epoch=9)),
        Refusal("next-transaction-ended", GOOD.with_step("still open", state="CompleteAbort", partitions=[])),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log().batches[:-1])),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="old-end-accepted"),
        Failpoint(rules=ANY_EPOCH_MAY_END, anomaly="old-end-accepted"),
        Liar(api="EndTxn", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="own-transaction-disturbed"),
    ),
)
