"""KIP360-INIT-05: a producer that shows its current identity keeps its producer id and gets the next epoch.

That is how a client recovers without becoming another producer. Tried on every version that carries an identity, with
nothing ever written, after a commit and after an abort.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.transaction_metadata_rules import INIT_ROTATES_THE_PRODUCER_ID
from harness.contract.doctored import described, evidence, step
from harness.contract.refuters import Failpoint
from harness.lab import Lab, Producer


def stimulus(lab: Lab) -> None:
    """The current identity is shown when the state is Empty, CompleteCommit and CompleteAbort."""
    partition, txn = lab.partition("P1"), lab.producer()
    versions = lab.offered("InitProducerId", (3, 4, 5))
    for version in versions:
        _init(lab, txn, version)
    for result in Result:
        txn.write(partition)
        txn.end(commit=result.commits)
        lab.reached(txn, result.completed, as_="ended")
        _init(lab, txn, versions[-1])


def _init(lab: Lab, txn: Producer, version: int) -> None:
    txn.init(version=version, identity=(txn.producer_id, txn.epoch), as_="own identity")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def check(seen: Evidence) -> Observations:
    """The same producer id, one epoch up, in the answer and at the coordinator."""
    for result, ended in zip(Result, seen.all("ended"), strict=True):
        yield expect.keeps(ended, state=result.completed, otherwise="never-ended")
    for init, kept in zip(seen.all("own identity"), seen.all("kept"), strict=True):
        own, epoch = init.request_int("producer_id"), init.request_int("producer_epoch") + 1
        yield expect.accepted(init, otherwise="own-identity-refused")
        yield expect.identity(init, own, epoch, otherwise="wrong-returned-identity")
        yield expect.keeps(kept, producer_id=own, epoch=epoch, otherwise="wrong-stored-identity")
        yield expect.keeps(kept, state="Empty", otherwise="wrong-stored-state")


_SHOWN = {"producer_id": 7, "producer_epoch": 3}
GOOD = evidence(
    *(described("ended", result.completed) for result in Result),
    step("own identity", "InitProducerId", 4, request=_SHOWN, producer_id=7, producer_epoch=4),
    described("kept", "Empty", epoch=4),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-05",
    source=Source(360, "Proposed Changes, 2a-i: the provided epoch is the current one"),
    statement="With the current producer id and epoch, the same producer id is returned with the epoch bumped by one.",
    needs=(Offers("InitProducerId", 3), Offers("DescribeTransactions", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("never-ended", GOOD.with_step("ended", state="PrepareCommit")),
        Refusal("own-identity-refused", GOOD.with_step("own identity", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-returned-identity", GOOD.with_step("own identity", producer_epoch=3)),
        Refusal("wrong-returned-identity", GOOD.with_step("own identity", producer_id=8)),
        Refusal("wrong-stored-identity", GOOD.with_step("kept", producer_epoch=3)),
        Refusal("wrong-stored-state", GOOD.with_step("kept", state="CompleteCommit")),
    ),
    refuted_by=(Failpoint(rules=INIT_ROTATES_THE_PRODUCER_ID, anomaly="wrong-returned-identity"),),
)
