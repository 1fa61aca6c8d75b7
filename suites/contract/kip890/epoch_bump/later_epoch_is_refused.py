"""KIP890-BUMP-08: an EndTxn in an epoch that is still to come is refused, and the transaction goes on.

Such a request cannot come from who holds the id now. Tried with the next epoch and with one far ahead, at every
version, while the transaction is open and after its end; committing and aborting. The coordinator knows one epoch as
current, which is the KIP's; the code is Kafka's.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import ANY_EPOCH_MAY_END, LATER_EPOCH_MOVES_THE_ID_ON
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.lab import Lab, Producer

AHEAD = (1, 100)


def stimulus(lab: Lab) -> None:
    """A transaction of each kind; ends ahead of its epoch while it is open and when it is over."""
    partition = lab.partition("P1")
    for result in Result:
        txn = lab.producer(protocol=2)
        txn.produce(partition, as_=f"write before {result.noun}")
        _ask(lab, txn)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="still open")
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="ended")
        _ask(lab, txn)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def _ask(lab: Lab, txn: Producer) -> None:
    for version in lab.offered("EndTxn", range(6)):
        for ahead in AHEAD:
            for result in Result:
                txn.end(commit=result.commits, epoch=txn.epoch + ahead, version=version, as_="end ahead")


def check(seen: Evidence) -> Observations:
    """Each end ahead is refused, whatever the state, and changes nothing."""
    for ahead in seen.all("end ahead"):
        yield expect.refused(
            ahead, fenced("EndTxn", ahead.version), code=Level.SHOULD, otherwise="later-epoch-accepted"
        )
    for still, end in zip(seen.all("still open"), seen.all("end"), strict=True):
        epoch = end.request_int("producer_epoch")
        yield expect.keeps(still, state="Ongoing", epoch=epoch, partitions=("P1",), otherwise="transaction-disturbed")
        yield expect.accepted(end, otherwise="own-end-refused")
    for ended, kept in zip(seen.all("ended"), seen.all("kept"), strict=True):
        yield expect.over(ended)
        yield expect.unchanged(ended, kept, "state", "producer_epoch", otherwise="decision-changed")
    yield from expect.sound(seen, committed=expect.values(seen, "write before commit"))
    yield expect.marks(seen, "P1", ("COMMIT",), ("ABORT",))


GOOD = adopted(__file__, "KIP890-BUMP-08")

REQUIREMENT = Requirement(
    id="KIP890-BUMP-08",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="An EndTxn in an epoch that is too high is refused.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("later-epoch-accepted", GOOD.with_step("end ahead", error=0)),
        Refusal("wrong-error", GOOD.with_step("end ahead", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("end ahead", error=None)),
        Refusal("transaction-disturbed", GOOD.with_step("still open", state="CompleteAbort", partitions=[])),
        Refusal("own-end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="Ongoing").with_step("kept", state="Ongoing")),
        Refusal("decision-changed", GOOD.with_step("kept", producer_epoch=9)),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log().batches[:-1])),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=ANY_EPOCH_MAY_END, anomaly="later-epoch-accepted"),
        Failpoint(rules=LATER_EPOCH_MOVES_THE_ID_ON, anomaly="own-end-refused"),
        Liar(api="DescribeTransactions", fields={"topics": []}, anomaly="transaction-disturbed"),
    ),
)
