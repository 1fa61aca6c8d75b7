"""KIP890-OVF-05: who lost the answer to the end in the last epoch asks again, and is given the same new identity.

The producer only knows its old id, which the coordinator has replaced. It asks the coordinator that answered, and then
another broker that has taken over: the KIP has the old id recorded beside the new one for just that. Before 4.3 Kafka
did not write it (KAFKA-20310), so that the second broker knows nothing of the producer who asks.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import OVERFLOW_KNOWS_NO_REPETITION
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar, Release
from harness.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH

REPEATS = 2


def stimulus(lab: Lab) -> None:
    """A commit and an abort in the last epoch, each repeated on both coordinators; then the producer goes on."""
    partition = lab.partition("P1")
    for txn, result in zip(lab.near_the_end(count=2, protocol=2), Result, strict=True):
        own, epoch = txn.producer_id, txn.epoch
        txn.produce(partition, as_=result.noun)
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="kept")
        for _ in range(REPEATS):
            txn.end(commit=result.commits, as_="end again", producer_id=own, epoch=epoch)
        with lab.moves.coordinator(txn):
            txn.end(commit=result.commits, as_="end again after the move", producer_id=own, epoch=epoch)
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept after the move")
        txn.produce(partition, as_=f"after the {result.noun}")
        txn.end(commit=True, as_="next end")


def check(seen: Evidence) -> Observations:
    """Every answer is the first one's; nothing more is ended by it, and the new identity goes on."""
    repetitions = iter(seen.all("end again"))
    later, kept = iter(seen.all("end again after the move")), iter(seen.all("kept after the move"))
    for end, following in zip(seen.all("end"), seen.all("next end"), strict=True):
        yield expect.accepted(end, otherwise="end-refused")
        given = end.answer_int("producer_id")
        for again in (next(repetitions) for _ in range(REPEATS)):
            if again.request["producer_epoch"] != LAST_EPOCH:
                raise NotSeen("the transaction did not end in the last epoch")
            yield expect.accepted(again, otherwise="repetition-refused")
            yield expect.identity(again, given, 0, otherwise="another-identity")
        moved = next(later)
        yield expect.accepted(moved, otherwise="forgotten-by-the-next-coordinator")
        if moved.error == 0:
            yield expect.identity(moved, given, 0, otherwise="another-identity-after-the-move")
        yield expect.keeps(next(kept), producer_id=given, epoch=0, otherwise="identity-changed")
        yield expect.accepted(following, otherwise="new-identity-refused")
    committed, later_first, aborted, later_second = (
        seen[name].written() for result in Result for name in (result.noun, f"after the {result.noun}")
    )
    values = (*committed, *later_first, *aborted, *later_second)
    yield from expect.sound(seen, "P1", values, committed=(*committed, *later_first, *later_second))


GOOD = adopted(__file__, "KIP890-OVF-05")

REQUIREMENT = Requirement(
    id="KIP890-OVF-05",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1), COMPLETE"),
    statement="The repeated end of the last epoch returns the new identity, also after the coordinator has moved.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    access=(Access.LOAD, Access.BROKERS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("repetition-refused", GOOD.with_step("end again", error=KafkaError.INVALID_PRODUCER_ID_MAPPING)),
        Refusal("another-identity", GOOD.with_step("end again", producer_epoch=1)),
        Refusal(
            "forgotten-by-the-next-coordinator",
            GOOD.with_step("end again after the move", error=KafkaError.INVALID_PRODUCER_ID_MAPPING),
        ),
        Refusal("another-identity-after-the-move", GOOD.with_step("end again after the move", producer_epoch=1)),
        Refusal("identity-changed", GOOD.with_step("kept after the move", producer_epoch=1)),
        Refusal("new-identity-refused", GOOD.with_step("next end", error=KafkaError.PRODUCER_FENCED)),
        *unsound(GOOD),
    ),
    refuted_by=(
        Release(version="4.1.2", anomaly="forgotten-by-the-next-coordinator"),
        Failpoint(rules=OVERFLOW_KNOWS_NO_REPETITION, anomaly="repetition-refused"),
        Liar(api="EndTxn", skip=3, at_most=1, shift={"producer_id": 1}, anomaly="another-identity-after-the-move"),
    ),
)
