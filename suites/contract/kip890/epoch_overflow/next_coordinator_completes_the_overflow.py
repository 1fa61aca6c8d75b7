"""KIP890-OVF-06: another coordinator that takes over in the middle of an overflow completes it with the promised id.

The client has been answered with its new identity while a marker is still held back; then another broker takes over,
with nothing but the record of the prepared end. It must write the markers, keep the identity that the client was given,
and let it go on. Before 4.3 Kafka did not record the next id (KAFKA-20310), and the client was stuck with one that
nobody knew. The old coordinator's marker, when it comes at last, must change nothing.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.doctored import adopted, commit, log, unsound
from harness.contract.refuters import Release
from harness.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH


def stimulus(lab: Lab) -> None:
    """A commit and an abort in the last epoch whose marker is held while the coordinator moves; then one more each."""
    partition = lab.partition("P1")
    for txn, result in zip(lab.near_the_end(count=2, protocol=2), Result, strict=True):
        txn.produce(partition, as_=result.noun)
        held = f"markers of the {result.noun}"
        with lab.hold(lab.link(txn.coordinator, partition.leader), name=held):
            txn.end(commit=result.commits, as_=f"overflowing {result.noun}")
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"prepared {result.noun}")
            lab.sample(held, partition)
            with lab.moves.coordinator(txn):
                lab.reached(txn, result.completed, as_=f"completed {result.noun}")
                txn.produce(partition, as_=f"after the {result.noun}")
                txn.end(commit=True, as_=f"end after the {result.noun}")
                lab.reached(txn, "CompleteCommit", as_="kept")


def check(seen: Evidence) -> Observations:
    """The old id in the marker's epoch until the move; the promised one after it, which writes and commits."""
    written: list[str] = []
    shown: list[str] = []
    markers: list[tuple[str, int, int]] = []
    for result in Result:
        end, prepared = seen[f"overflowing {result.noun}"], seen[f"prepared {result.noun}"]
        expect.prepared(seen, f"markers of the {result.noun}", end=end)
        own, given = end.request_int("producer_id"), end.answer_int("producer_id")
        yield expect.accepted(end, otherwise="end-refused")
        yield expect.habit(expect.keeps(prepared, state=result.prepared, producer_id=own, epoch=LAST_EPOCH + 1))
        yield expect.over(seen[f"completed {result.noun}"], otherwise="never-completed")
        yield expect.keeps(seen[f"completed {result.noun}"], producer_id=given, epoch=0, otherwise="promise-forgotten")
        following, last = seen[f"after the {result.noun}"], seen[f"end after the {result.noun}"]
        yield expect.accepted(following, otherwise="promised-identity-refused")
        yield expect.accepted(last, otherwise="promised-identity-refused")
        written += (*seen[result.noun].written(), *following.written())
        shown += (*(seen[result.noun].written() if result.commits else ()), *following.written())
        markers += ((result.marker, LAST_EPOCH + 1, own), ("COMMIT", 1, given))
    yield from expect.sound(seen, "P1", written, committed=shown, markers=markers)


GOOD = adopted(__file__, "KIP890-OVF-06")

REQUIREMENT = Requirement(
    id="KIP890-OVF-06",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1), PREPARE and COMPLETE"),
    statement="A coordinator that takes over between prepare and complete finishes the overflow with the promised id.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    order=Order.HOLDS_LINKS,
    access=(Access.LOAD, Access.LINKS, Access.BROKERS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("overflowing commit", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-state-kept", GOOD.with_step("prepared abort", producer_epoch=LAST_EPOCH)),
        Refusal("never-completed", GOOD.with_step("completed commit", state="PrepareCommit")),
        Refusal("promise-forgotten", GOOD.with_step("completed abort", producer_epoch=LAST_EPOCH + 1)),
        Refusal(
            "promised-identity-refused",
            GOOD.with_step("after the commit", error=KafkaError.INVALID_PRODUCER_ID_MAPPING),
        ),
        Refusal(
            "promised-identity-refused",
            GOOD.with_step("end after the abort", error=KafkaError.INVALID_PRODUCER_ID_MAPPING),
        ),
        Refusal("wrong-markers", GOOD.with_log(truth=log(*GOOD.log().batches, commit(7, 0)))),
        *unsound(GOOD),
    ),
    refuted_by=(
        Release(version="4.1.2", anomaly="promise-forgotten"),
        Release(version="4.1.2", anomaly="promised-identity-refused"),
    ),
)
