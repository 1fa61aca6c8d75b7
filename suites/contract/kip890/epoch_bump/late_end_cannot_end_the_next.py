"""KIP890-BUMP-07: a delayed EndTxn of one transaction cannot end the next (KAFKA-17754, open in the old protocol).

The producer's commit and abort lie on its lane to the coordinator; it tries again over another lane, as a client whose
connection broke, and begins its next transaction. Then the delayed requests arrive.
"""

from collections.abc import Iterator
from dataclasses import replace

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
    struck,
)
from harness.contract.byteman.coordinator_rules import DELAYED_END_TAKEN_FOR_CURRENT
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import commit, data, evidence, held_link, log, sample, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Transaction 1 is ended over the rival's lane and transaction 2 begun; then the held ends of 1 arrive."""
    txn = lab.producer("victim", protocol=2)
    partition = lab.partition("P1")
    txn.write(partition)
    again = lab.same_id(txn.transactional_id, txn.coordinator, "rival", protocol=2, init=False)
    again.become(txn.producer_id, txn.epoch)
    with lab.hold(txn.lane_to(txn.coordinator), name="lane") as held:
        delayed = [txn.start_end(commit=commits, version=5) for commits in (True, False)]
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


def check(seen: Evidence) -> Iterator[Observation]:
    """Both delayed ends are fenced; transaction 2 stays open and whole until its own end."""
    end, before = seen["end of transaction 2"], seen["transaction 2 before"]
    own, epoch = end.asked("producer_id"), end.asked("producer_epoch")
    yield accepted(seen["end of transaction 1"], otherwise="own-end-refused")
    yield accepted(seen["write of transaction 2"], otherwise="transaction-2-not-begun")
    yield shows(before, state="Ongoing", producer_epoch=epoch, otherwise="transaction-2-not-begun")
    for late in seen.all("delayed end"):
        struck(seen, late, by="lane")
        yield agree(
            "epoch of the delayed end", late.asked("producer_epoch"), epoch - 1, late, otherwise="epoch-not-bumped"
        )
        yield refused(late, 90, otherwise="delayed-end-accepted")
    after, opened = seen["transaction 2 after"], seen.sample("after")
    yield shows(after, state="Ongoing", producer_id=own, producer_epoch=epoch, otherwise="next-transaction-ended")
    yield agree("partitions", after.fields.get("partitions"), ["P1"], after, otherwise="next-transaction-changed")
    yield agree("LSO before its end", opened.last_stable_offset, opened.high_watermark - 1, otherwise="early-marker")
    yield accepted(end, otherwise="own-end-refused")
    truth = seen.log()
    yield agree("markers", truth.marks(), (("COMMIT", epoch), ("COMMIT", epoch + 1)), otherwise="wrong-markers")
    yield agree("committed values", truth.committed, truth.values(), otherwise="wrong-records-shown")


_OLD = {"producer_id": 7, "producer_epoch": 0}
_OPEN = step("-", "DescribeTransactions", 0, state="Ongoing", producer_id=7, producer_epoch=1, partitions=["P1"])
GOOD = evidence(
    step("end of transaction 1", "EndTxn", 5),
    step("write of transaction 2", "Produce", 12),
    replace(_OPEN, name="transaction 2 before"),
    step("delayed end", "EndTxn", 5, error=90, held=20, request={**_OLD, "committed": True}),
    step("delayed end", "EndTxn", 5, error=90, held=20, request={**_OLD, "committed": False}),
    replace(_OPEN, name="transaction 2 after"),
    step("end of transaction 2", "EndTxn", 5, request={"producer_id": 7, "producer_epoch": 1}),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1), data(7, 1, "b"), commit(7, 2))},
    faults=(held_link("lane"),),
    samples=(sample("after", "P1", 3, 2),),
)
_TORN = log(data(7, 0, "a"), commit(7, 1), data(7, 1, "b"), commit(7, 2), commit(7, 2))

REQUIREMENT = Requirement(
    id="KIP890-BUMP-07",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A delayed EndTxn of the previous transaction is fenced and cannot end the next one.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("own-end-refused", GOOD.with_step("end of transaction 1", error=90)),
        Refusal("transaction-2-not-begun", GOOD.with_step("write of transaction 2", error=47)),
        Refusal("transaction-2-not-begun", GOOD.with_step("transaction 2 before", state="CompleteCommit")),
        Refusal("epoch-not-bumped", GOOD.with_step("delayed end", request={"producer_epoch": 1})),
        Refusal("delayed-end-accepted", GOOD.with_step("delayed end", error=0)),
        Refusal("wrong-error", GOOD.with_step("delayed end", error=48)),
        Refusal("unanswered", GOOD.with_step("delayed end", error=None, answered=None)),
        Refusal("next-transaction-ended", GOOD.with_step("transaction 2 after", state="CompleteCommit")),
        Refusal("next-transaction-changed", GOOD.with_step("transaction 2 after", partitions=[])),
        Refusal("early-marker", GOOD.with_sample("after", last_stable_offset=3)),
        Refusal("own-end-refused", GOOD.with_step("end of transaction 2", error=90)),
        Refusal("wrong-markers", GOOD.with_log("P1", _TORN)),
        Refusal("wrong-records-shown", GOOD.with_log(committed=("a",))),
    ),
    refuted_by=(
        Failpoint(rules=DELAYED_END_TAKEN_FOR_CURRENT, anomaly="next-transaction-ended"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="delayed-end-accepted"),
    ),
)
