"""KIP890-BUMP-07: a delayed EndTxn of one transaction cannot end the next (KAFKA-17754, open in the old protocol).

The producer's commit and abort lie on its lane to the coordinator; it tries again over another lane, as a client whose
connection broke, and begins its next transaction. Then the delayed requests arrive. That they are refused and change
nothing is the KIP's promise; the code is Kafka's.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import DELAYED_END_TAKEN_FOR_CURRENT
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import adopted, commit, log, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

FENCED = KafkaError.PRODUCER_FENCED


def stimulus(lab: Lab) -> None:
    """Transaction 1 is ended over the rival's lane and transaction 2 begun; then the held ends of 1 arrive."""
    txn, partition = lab.producer(protocol=2), lab.partition("P1")
    txn.write(partition)
    again = lab.same_id(txn.transactional_id, txn.coordinator, "rival", protocol=2, init=False)
    again.become(txn.producer_id, txn.epoch)
    with lab.hold(txn.lane_to(txn.coordinator), name="lane") as held:
        delayed = [txn.start_end(commit=result.commits, version=5) for result in Result]
        again.end(commit=True, version=5, as_="end of transaction 1")
        lab.reached(again, "CompleteCommit", as_="transaction 1")
        first = int(again.epoch == txn.epoch)  # sequences start anew only in a new epoch
        again.produce(partition, sequence=first, as_="write of transaction 2")
        lab.observer.transaction(again.transactional_id, again.coordinator, as_="transaction 2 before")
        lab.sample("before")
        held.release()
        for request in delayed:
            request.answer(as_="delayed end")
    lab.observer.transaction(again.transactional_id, again.coordinator, as_="transaction 2 after")
    lab.sample("after")
    again.end(commit=True, version=5, as_="end of transaction 2")


def check(seen: Evidence) -> Observations:
    """Both delayed ends are fenced; transaction 2 stays open and whole until its own end."""
    end, before, after = seen["end of transaction 2"], seen["transaction 2 before"], seen["transaction 2 after"]
    own, epoch = end.request_int("producer_id"), end.request_int("producer_epoch")
    yield expect.accepted(seen["end of transaction 1"], otherwise="own-end-refused")
    yield expect.accepted(seen["write of transaction 2"], otherwise="transaction-2-not-begun")
    yield expect.keeps(before, state="Ongoing", epoch=epoch, otherwise="transaction-2-not-begun")
    for late in seen.all("delayed end"):
        expect.struck(seen, late, by="lane")
        asked = late.request_int("producer_epoch")
        yield expect.agree("epoch of the delayed end", asked, epoch - 1, late, otherwise="epoch-not-bumped")
        yield expect.refused(late, FENCED, code=Level.SHOULD, otherwise="delayed-end-accepted")
    yield expect.keeps(after, state="Ongoing", producer_id=own, epoch=epoch, otherwise="next-transaction-ended")
    yield expect.keeps(after, partitions=("P1",), otherwise="next-transaction-changed")
    opened = seen.sample("after")
    stable, promised = opened.last_stable_offset, opened.high_watermark - 1
    yield expect.agree("last stable offset before its end", stable, promised, otherwise="early-marker")
    yield expect.accepted(end, otherwise="own-end-refused")
    yield from expect.sound(seen, markers=(("COMMIT",), ("COMMIT",)))


GOOD = adopted(__file__, "KIP890-BUMP-07")

REQUIREMENT = Requirement(
    id="KIP890-BUMP-07",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A delayed EndTxn of the previous transaction is fenced and cannot end the next one.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    access=(Access.LANES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("own-end-refused", GOOD.with_step(f"end of transaction {n}", error=FENCED)) for n in (1, 2)),
        Refusal("transaction-2-not-begun", GOOD.with_step("write of transaction 2", error=FENCED)),
        Refusal("transaction-2-not-begun", GOOD.with_step("transaction 2 before", state="CompleteCommit")),
        Refusal("epoch-not-bumped", GOOD.with_step("delayed end", request={"producer_epoch": 1})),
        Refusal("delayed-end-accepted", GOOD.with_step("delayed end", error=0)),
        Refusal("wrong-error", GOOD.with_step("delayed end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("delayed end", error=None, answered=None)),
        Refusal("next-transaction-ended", GOOD.with_step("transaction 2 after", state="CompleteCommit")),
        Refusal("next-transaction-changed", GOOD.with_step("transaction 2 after", partitions=[])),
        Refusal("early-marker", GOOD.with_sample("after", last_stable_offset=3)),
        Refusal("wrong-markers", GOOD.with_log("P1", log(*GOOD.log().batches, commit(7, 2)))),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=DELAYED_END_TAKEN_FOR_CURRENT, anomaly="next-transaction-ended"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="delayed-end-accepted"),
        Liar(
            api="Produce", skip=1, instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="transaction-2-not-begun"
        ),
        Liar(api="DescribeTransactions", fields={"topics": []}, anomaly="next-transaction-changed"),
        Liar(api="Fetch", shift={"last_stable_offset": 1}, anomaly="early-marker"),
    ),
)
