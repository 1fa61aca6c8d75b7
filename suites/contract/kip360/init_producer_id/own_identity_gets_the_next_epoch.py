"""KIP360-INIT-05: a producer that shows its current identity keeps its producer id and gets the next epoch.

That is how a client recovers without becoming another producer. Tried on every version that carries an identity, with
nothing ever written, after a commit and after an abort; each time the old epoch must be fenced afterwards and a
transaction of the new one go through. The name of the coordinator's state (``Empty``) and the code of the fencing are
Kafka's habit, all else the KIP's promise.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.transaction_metadata_rules import INIT_ROTATES_THE_PRODUCER_ID
from harness.contract.doctored import described, ended, evidence, step, written
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.lab import Lab, Producer


def stimulus(lab: Lab) -> None:
    """The current identity is shown when the state is Empty, CompleteCommit and CompleteAbort."""
    partition, txn = lab.partition("P1"), lab.producer()
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        for result in Result:
            old = txn.epoch
            _init(lab, txn, version)
            txn.add(partition, epoch=old, as_="add in the old epoch")
            txn.add(partition)
            txn.produce(partition, as_="write in the new epoch")
            txn.end(commit=result.commits, as_="end in the new epoch")
            lab.reached(txn, result.completed, as_="ended")


def _init(lab: Lab, txn: Producer, version: int) -> None:
    txn.init(version=version, identity=(txn.producer_id, txn.epoch), as_="own identity")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def check(seen: Evidence) -> Observations:
    """The same producer id, one epoch up, in the answer and at the coordinator; with it the producer goes on."""
    for init, kept in zip(seen.all("own identity"), seen.all("kept"), strict=True):
        own, epoch = init.request_int("producer_id"), init.request_int("producer_epoch") + 1
        yield expect.accepted(init, otherwise="own-identity-refused")
        yield expect.identity(init, own, epoch, otherwise="wrong-returned-identity")
        yield expect.keeps(kept, producer_id=own, epoch=epoch, otherwise="wrong-stored-identity")
        yield expect.habit(expect.keeps(kept, state="Empty", otherwise="wrong-stored-state"))
    for add in seen.all("add in the old epoch"):
        stale = fenced("AddPartitionsToTxn", add.version)
        yield expect.refused(add, stale, code=Level.SHOULD, otherwise="old-epoch-not-fenced")
    for step_ in (*seen.all("write in the new epoch"), *seen.all("end in the new epoch")):
        yield expect.accepted(step_, otherwise="new-epoch-refused")
    for ended_ in seen.all("ended"):
        yield expect.over(ended_)


_SHOWN = {"producer_id": 7, "producer_epoch": 3}
GOOD = evidence(
    step("own identity", "InitProducerId", 4, request=_SHOWN, producer_id=7, producer_epoch=4),
    described("kept", "Empty", epoch=4),
    step("add in the old epoch", "AddPartitionsToTxn", 3, error=KafkaError.PRODUCER_FENCED),
    written("write in the new epoch", 11, "a"),
    ended("end in the new epoch", version=4),
    described("ended", "CompleteCommit"),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-05",
    source=Source(360, "Proposed Changes, 2a-i: the provided epoch is the current one"),
    statement="With the current producer id and epoch, the same producer id is returned with the epoch bumped by one.",
    needs=(Offers("InitProducerId", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("own-identity-refused", GOOD.with_step("own identity", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-returned-identity", GOOD.with_step("own identity", producer_epoch=3)),
        Refusal("wrong-returned-identity", GOOD.with_step("own identity", producer_id=8)),
        Refusal("wrong-stored-identity", GOOD.with_step("kept", producer_epoch=3)),
        Refusal("wrong-stored-state", GOOD.with_step("kept", state="CompleteCommit")),
        Refusal("old-epoch-not-fenced", GOOD.with_step("add in the old epoch", error=0)),
        Refusal("new-epoch-refused", GOOD.with_step("write in the new epoch", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("new-epoch-refused", GOOD.with_step("end in the new epoch", error=KafkaError.PRODUCER_FENCED)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="PrepareCommit")),
    ),
    refuted_by=(
        Failpoint(rules=INIT_ROTATES_THE_PRODUCER_ID, anomaly="wrong-returned-identity"),
        Liar(api="AddPartitionsToTxn", instead_of=KafkaError.PRODUCER_FENCED, error=0, anomaly="old-epoch-not-fenced"),
    ),
)
