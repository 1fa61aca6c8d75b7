"""KIP890-RETRY-01, -02: an end repeated after completion is answered with the same identity and bumps no more.

The client that lost the answer learns its next epoch from the repeated one. An older epoch than that is fenced. All of
it is the KIP's promise but the code of the fencing, which is Kafka's.
"""

from functools import partial

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import END_KNOWS_NO_REPETITION, REPETITION_GETS_THE_OLD_EPOCH
from harness.contract.doctored import data, described, ended, evidence, log, marker, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab


def stimulus(lab: Lab, result: Result) -> None:
    """Two transactions; the end of the second is asked for again three times, then that of the first."""
    txn, partition = lab.producer("victim", protocol=2), lab.partition("P1")
    for name in ("first end", "end"):
        epoch = txn.epoch
        txn.produce(partition, as_="write")
        txn.end(commit=result.commits, as_=name)
        lab.reached(txn, result.completed, as_=f"kept after {name}")
    for _ in range(3):
        txn.end(commit=result.commits, epoch=epoch, as_="end again")
    txn.end(commit=result.commits, epoch=epoch - 1, as_="older end again")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def check(seen: Evidence, result: Result) -> Observations:
    """Every repetition gets the producer id and the bumped epoch that the end itself got; nothing more happens."""
    end, kept = seen["end"], seen["kept"]
    own, epoch = end.request_int("producer_id"), end.request_int("producer_epoch")
    for once in (seen["first end"], end):
        yield expect.accepted(once, otherwise="end-refused")
    for again in seen.all("end again"):
        yield expect.accepted(again, otherwise="repetition-refused")
        yield expect.shows(again, producer_id=own, otherwise="wrong-producer-id")
        yield expect.shows(again, producer_epoch=epoch + 1, otherwise="wrong-epoch")
    older, fenced = seen["older end again"], KafkaError.PRODUCER_FENCED
    yield expect.refused(older, fenced, code=Level.SHOULD, otherwise="older-end-accepted")
    yield expect.over(kept)
    yield expect.keeps(kept, producer_id=own, epoch=epoch + 1, otherwise="identity-changed")
    committed = expect.values(seen, "write") if result.commits else ()
    yield from expect.sound(seen, committed=committed, markers=((result.marker,), (result.marker,)))


def requirement(id_: str, result: Result) -> Requirement[Lab]:
    """The promise for ends of this kind."""
    logged = (data(7, 0, "a"), marker(result, 1), data(7, 1, "b"), marker(result, 2))
    again = ended("end again", epoch=1)
    older = ended("older end again", epoch=0, error=KafkaError.PRODUCER_FENCED)
    kept = described("kept", result.completed, epoch=2)
    writes = (written("write", 12, value) for value in "ab")
    steps = (*writes, ended("first end"), ended("end", epoch=1), again, again, older, kept)
    good = evidence(*steps, logs={"P1": log(*logged)})
    return Requirement(
        id=id_,
        source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
        statement=f"A repeated {result.noun} after completion is answered with the current identity "
        "and does not bump again.",
        needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
        stimulus=partial(stimulus, result=result),
        check=partial(check, result=result),
        accepts=(good,),
        refuses=(
            Refusal("end-refused", good.with_step("first end", error=KafkaError.PRODUCER_FENCED)),
            Refusal("end-refused", good.with_step("end", error=KafkaError.PRODUCER_FENCED)),
            Refusal("repetition-refused", good.with_step("end again", error=KafkaError.PRODUCER_FENCED)),
            Refusal("repetition-refused", good.with_step("end again", error=KafkaError.CONCURRENT_TRANSACTIONS)),
            Refusal("wrong-producer-id", good.with_step("end again", producer_id=-1)),
            Refusal("wrong-epoch", good.with_step("end again", producer_epoch=3)),
            Refusal("wrong-epoch", good.with_step("end again", producer_epoch=1)),
            Refusal("older-end-accepted", good.with_step("older end again", error=0)),
            Refusal("wrong-error", good.with_step("older end again", error=KafkaError.INVALID_TXN_STATE)),
            Refusal("unanswered", good.with_step("older end again", error=None)),
            Refusal("identity-changed", good.with_step("kept", producer_epoch=3)),
            Refusal("transaction-not-over", good.with_step("kept", state=result.prepared)),
            Refusal("wrong-markers", good.with_log(truth=log(*logged, marker(result, 3)))),
            *unsound(good, appended=None),
        ),
        refuted_by=(
            Failpoint(rules=END_KNOWS_NO_REPETITION, anomaly="repetition-refused"),
            Failpoint(rules=REPETITION_GETS_THE_OLD_EPOCH, anomaly="wrong-epoch"),
            Liar(api="EndTxn", instead_of=KafkaError.PRODUCER_FENCED, error=0, anomaly="older-end-accepted"),
        ),
    )


REQUIREMENTS = (requirement("KIP890-RETRY-01", Result.COMMIT), requirement("KIP890-RETRY-02", Result.ABORT))
