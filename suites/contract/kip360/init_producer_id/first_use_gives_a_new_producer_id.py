"""KIP360-INIT-01, -02: without an identity, an unknown id becomes a new producer, and a known one gets the next epoch.

So a client starts: the first is in epoch 0, and each that comes after it fences the one before. Tried on a version of
each form of the request, first by one client and then by a rival, with nothing between them, a commit and an abort. The
code of the fencing, the name of the state and that no start is shown are Kafka's habit.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.doctored import described, ended, evidence, step
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.lab import Lab

VERSIONS = (0, 2, 3, 4, 5)


def stimulus(lab: Lab) -> None:
    """For each version a new id, and a rival that starts after nothing, after a commit and after an abort."""
    partition = lab.partition("P1")
    for version in lab.offered("InitProducerId", VERSIONS):
        txn = lab.producer(init=False)
        txn.init(version=version, as_="first start")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
        for commit in (None, True, False):
            if commit is not None:
                txn.write(partition)
                txn.end(commit=commit)
                lab.reached(txn, "CompleteCommit" if commit else "CompleteAbort", as_="ended")
            rival = lab.same_id(txn.transactional_id, txn.coordinator, "rival", init=False)
            rival.init(version=version, as_="next start")
            txn.add(partition, as_="add of the one before")
            txn = rival
        txn.write(partition)
        txn.end(commit=True, as_="end of the last")


def check(seen: Evidence) -> Observations:
    """A producer id of its own in epoch 0; then the same one, an epoch further each time, and the one before fenced."""
    firsts, nexts = seen.all("first start"), iter(seen.all("next start"))
    ids = {first.fields.get("producer_id") for first in firsts}
    yield expect.agree("different producer ids", len(ids - {-1}), len(firsts), *firsts, otherwise="not-a-new-id")
    for first, kept in zip(firsts, seen.all("kept"), strict=True):
        yield expect.accepted(first, otherwise="start-refused")
        own = first.answer_int("producer_id")
        yield expect.shows(first, producer_epoch=0, otherwise="wrong-first-epoch")
        yield expect.keeps(kept, producer_id=own, epoch=0, partitions=(), otherwise="wrong-stored-identity")
        yield expect.habit(expect.keeps(kept, state="Empty"))
        for epoch in (1, 2, 3):
            yield expect.identity(next(nexts), own, epoch, otherwise="wrong-next-identity")
    for add in seen.all("add of the one before"):
        stale = fenced("AddPartitionsToTxn", add.version)
        yield expect.refused(add, stale, code=Level.SHOULD, otherwise="one-before-not-fenced")
    for end in seen.all("end of the last"):
        yield expect.accepted(end, otherwise="newest-refused")


GOOD = evidence(
    step("first start", "InitProducerId", 4, producer_id=7, producer_epoch=0),
    described("kept", "Empty"),
    *(step("next start", "InitProducerId", 4, producer_id=7, producer_epoch=epoch) for epoch in (1, 2, 3)),
    step("add of the one before", "AddPartitionsToTxn", 3, error=KafkaError.PRODUCER_FENCED),
    ended("end of the last", version=4, epoch=3),
)
NO_ID = GOOD.with_step("first start", producer_id=-1).with_step("next start", producer_id=-1)
NO_ID = NO_ID.with_step("kept", producer_id=-1)


def requirement(id_: str, section: str, statement: str) -> Requirement[Lab]:
    """One of the two promises, which are tried together: the second start is one after a first."""
    return Requirement(
        id=id_,
        source=Source(360, f"Proposed Changes, {section}"),
        statement=statement,
        needs=(Offers("InitProducerId", 2),),
        stimulus=stimulus,
        check=check,
        accepts=(GOOD,),
        refuses=(
            Refusal("not-a-new-id", NO_ID),
            Refusal("start-refused", GOOD.with_step("first start", error=KafkaError.COORDINATOR_NOT_AVAILABLE)),
            Refusal("wrong-first-epoch", GOOD.with_step("first start", producer_epoch=1)),
            Refusal("wrong-stored-identity", GOOD.with_step("kept", producer_epoch=1)),
            Refusal("wrong-state-kept", GOOD.with_step("kept", state="CompleteCommit")),
            Refusal("wrong-next-identity", GOOD.with_step("next start", producer_epoch=0)),
            Refusal("wrong-next-identity", GOOD.with_step("next start", producer_id=8)),
            Refusal("one-before-not-fenced", GOOD.with_step("add of the one before", error=0)),
            Refusal("wrong-error", GOOD.with_step("add of the one before", error=KafkaError.INVALID_TXN_STATE)),
            Refusal("newest-refused", GOOD.with_step("end of the last", error=KafkaError.PRODUCER_FENCED)),
        ),
        refuted_by=(
            Failpoint(rules=rules.EPOCHS_ARE_ALWAYS_EXHAUSTED, anomaly="wrong-next-identity"),
            Failpoint(rules=rules.EPOCHS_BEGIN_AT_ONE, anomaly="wrong-first-epoch"),
            Liar(api="InitProducerId", fields={"producer_id": -1}, at_most=1, anomaly="not-a-new-id"),
            Liar(api="InitProducerId", error=KafkaError.INVALID_REQUEST, at_most=1, anomaly="start-refused"),
            Liar(
                api="DescribeTransactions", fields={"transaction_state": "Dead"}, at_most=1, anomaly="wrong-state-kept"
            ),
            Liar(
                api="AddPartitionsToTxn",
                instead_of=KafkaError.PRODUCER_FENCED,
                error=0,
                anomaly="one-before-not-fenced",
            ),
            Liar(api="EndTxn", error=KafkaError.PRODUCER_FENCED, skip=2, at_most=1, anomaly="newest-refused"),
        ),
    )


REQUIREMENTS = (
    requirement(
        "KIP360-INIT-01",
        "1a: no current producer id and epoch",
        "The first use of a transactional id without identity gives a new producer id and epoch 0.",
    ),
    requirement(
        "KIP360-INIT-02",
        "1b-i: no overflow",
        "Without identity, a known id keeps its producer id, and its epoch is bumped.",
    ),
)
