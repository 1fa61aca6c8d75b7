"""KIP890-RETRY-09: an end whose answer was lost is recognised by the id's next coordinator too.

The KIP has the bumped epoch in the log, so that "it is safe for retries": the next coordinator answers the repetition
with the identity that the end got, and does nothing more. So it is after a commit and after an abort; then a
transaction of the new epoch goes through the new coordinator.
"""

from dataclasses import replace

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman import coordinator_rules as rules
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, marker, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Ended at one coordinator, asked again twice at the next, which also takes the next transaction."""
    for result in TransactionResult:
        name, txn = result.noun, lab.producer(protocol=2)
        partition, epoch = lab.partition(name), txn.epoch
        txn.produce(partition, as_="write")
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="completed")
        with lab.moves.coordinator(txn, name=f"move of {name}"):
            for _ in range(2):
                txn.end(commit=result.commits, epoch=epoch, as_=f"{name} again")
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
            txn.produce(partition, as_="next write")
            txn.end(commit=True, as_="next end")
            lab.reached(txn, "CompleteCommit", as_="completed")


def check(seen: Evidence) -> Observations:
    """Every repetition gets the producer id and the epoch that the end itself got; one marker a transaction."""
    steps = (seen.all(name) for name in ("write", "end", "kept", "next write", "next end"))
    for result, write, end, kept, after, last in zip(TransactionResult, *steps, strict=True):
        name, own, epoch = result.noun, end.request_int("producer_id"), end.request_int("producer_epoch")
        seen.fault(f"move of {name}")
        for asked in (write, end, after, last):
            yield expect.accepted(asked, otherwise="transaction-refused")
        for again in seen.all(f"{name} again"):
            if again.node == end.node:
                raise NotSeen("the repetition went to the same coordinator")
            yield expect.accepted(again, otherwise="repetition-refused")
            yield expect.identity(again, own, epoch + 1)
        yield expect.keeps(kept, producer_id=own, epoch=epoch + 1, otherwise="identity-changed")
        shown = [*(write.written() if result.commits else ()), *after.written()]
        values, markers = [*write.written(), *after.written()], ((result.marker, 1), ("COMMIT", 2))
        yield from expect.sound(seen, name, values, committed=shown, markers=markers)


GOOD = evidence(
    *(written("write", 12, "a") for _ in TransactionResult),
    *(ended("end", committed=result.commits) for result in TransactionResult),
    *(replace(ended(f"{result.noun} again", committed=result.commits), node=2) for result in TransactionResult),
    *(described("kept", result.completed, epoch=1) for result in TransactionResult),
    *(written("next write", 12, "b") for _ in TransactionResult),
    *(ended("next end", epoch=1) for _ in TransactionResult),
    faults=tuple(Fault(name=f"move of {r.noun}", kind="move", where="", started=0, ended=1) for r in TransactionResult),
    logs={r.noun: log(data(7, 0, "a"), marker(r, 1), data(7, 1, "b"), commit(7, 2)) for r in TransactionResult},
)
_OLD_EPOCH = log(data(7, 0, "a"), abort(7, 0), data(7, 1, "b"), commit(7, 2))

REQUIREMENT = Requirement(
    id="KIP890-RETRY-09",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A repeated end is answered with the current identity by the id's next coordinator as well.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.BROKERS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(
            Refusal("transaction-refused", GOOD.with_step(name, error=KafkaError.INVALID_PRODUCER_EPOCH))
            for name in ("write", "end", "next write", "next end")
        ),
        Refusal("repetition-refused", GOOD.with_step("abort again", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-identity-returned", GOOD.with_step("commit again", producer_epoch=2)),
        Refusal("wrong-identity-returned", GOOD.with_step("commit again", producer_id=-1)),
        Refusal("identity-changed", GOOD.with_step("kept", producer_epoch=2)),
        Refusal("wrong-markers", GOOD.with_log("abort", _OLD_EPOCH)),
        *unsound(GOOD, "commit"),
    ),
    refuted_by=(
        Failpoint(rules=rules.END_KNOWS_NO_REPETITION, anomaly="repetition-refused"),
        Failpoint(rules=rules.REPETITION_GETS_THE_OLD_EPOCH, anomaly="wrong-identity-returned"),
        Liar(
            api="Produce",
            skip=1,
            at_most=1,
            instead_of=0,
            error=KafkaError.INVALID_TXN_STATE,
            anomaly="transaction-refused",
        ),
    ),
)
