"""KIP360-INIT-05: a producer that shows its current identity keeps its producer id and gets the next epoch.

That is how a client recovers without becoming another producer. Tried on every version that carries an identity, with
nothing ever written, after a commit and after an abort.
"""

from collections.abc import Iterator

from harness.contract import Failpoint, Level, Observation, Offers, Refusal, Requirement, Source, accepted, agree
from harness.contract.byteman.transaction_metadata_rules import INIT_ROTATES_THE_PRODUCER_ID
from harness.contract.doctored import evidence, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab, Producer


def stimulus(lab: Lab) -> None:
    """The current identity is shown when the state is Empty, CompleteCommit and CompleteAbort."""
    partition, txn = lab.partition("P1"), lab.producer()
    versions = lab.offered("InitProducerId", (3, 4, 5))
    for version in versions:
        _bump(lab, txn, version)
    for commit in (True, False):
        txn.write(partition)
        txn.end(commit=commit)
        lab.reached(txn, "CompleteCommit" if commit else "CompleteAbort", as_="ended")
        _bump(lab, txn, versions[-1])


def _bump(lab: Lab, txn: Producer, version: int) -> None:
    txn.init(version=version, identity=(txn.producer_id, txn.epoch), as_="own identity")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def check(seen: Evidence) -> Iterator[Observation]:
    """The same producer id, one epoch up, in the answer and at the coordinator."""
    states = [step.fields.get("state") for step in seen.all("ended")]
    yield agree(
        "states before", states, ["CompleteCommit", "CompleteAbort"], *seen.all("ended"), otherwise="never-ended"
    )
    for init, kept in zip(seen.all("own identity"), seen.all("kept"), strict=True):
        yield accepted(init, otherwise="own-identity-refused")
        shown = (init.request["producer_id"], init.request["producer_epoch"])
        promised = (shown[0], int(str(shown[1])) + 1)
        answer = (init.fields.get("producer_id"), init.fields.get("producer_epoch"))
        yield agree("the returned identity", answer, promised, init, otherwise="wrong-returned-identity")
        stored = (kept.fields.get("producer_id"), kept.fields.get("producer_epoch"))
        yield agree("the stored identity", stored, promised, init, kept, otherwise="wrong-stored-identity")
        yield agree("the state", kept.fields.get("state"), "Empty", init, kept, otherwise="wrong-stored-state")


GOOD = evidence(
    step("ended", "DescribeTransactions", 0, state="CompleteCommit"),
    step("ended", "DescribeTransactions", 0, state="CompleteAbort"),
    step(
        "own identity",
        "InitProducerId",
        4,
        request={"producer_id": 7, "producer_epoch": 3},
        producer_id=7,
        producer_epoch=4,
    ),
    step("kept", "DescribeTransactions", 0, state="Empty", producer_id=7, producer_epoch=4),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-05",
    level=Level.MUST,
    source=Source(360, "Proposed Changes, 2a-i: the provided epoch is the current one"),
    statement="With the current producer id and epoch, the same producer id is returned with the epoch bumped by one.",
    needs=(Offers("InitProducerId", 3), Offers("DescribeTransactions", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("never-ended", GOOD.with_step("ended", state="PrepareCommit")),
        Refusal("own-identity-refused", GOOD.with_step("own identity", error=90)),
        Refusal("wrong-returned-identity", GOOD.with_step("own identity", producer_epoch=3)),
        Refusal("wrong-returned-identity", GOOD.with_step("own identity", producer_id=8)),
        Refusal("wrong-stored-identity", GOOD.with_step("kept", producer_epoch=3)),
        Refusal("wrong-stored-state", GOOD.with_step("kept", state="CompleteCommit")),
    ),
    refuted_by=(Failpoint(rules=INIT_ROTATES_THE_PRODUCER_ID, anomaly="wrong-returned-identity"),),
)
