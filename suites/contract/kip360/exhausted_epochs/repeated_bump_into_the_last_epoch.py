"""KIP360-INIT-21: who repeats the bump into the last epoch is given that epoch again.

Kafka first looks whether the current epoch can be bumped at all, and answers with UNKNOWN_SERVER_ERROR where it cannot
(``TransactionMetadata.prepareIncrementProducerEpoch`` raises before it compares): a client
that lost an answer is told of a fatal error, and its epochs end one too early. The bump into the epoch before the last
is repeated as well.
"""

from harness.base.json_value import Json
from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.transaction_metadata_rules import INIT_REPETITION_TAKEN_FOR_THE_FIRST
from harness.contract.doctored import described, evidence, step
from harness.contract.refuters import Failpoint, Release
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH

EPOCHS = (LAST_EPOCH - 1, LAST_EPOCH)


def stimulus(lab: Lab) -> None:
    """The bump into each epoch, shown again with the epoch before, on each version."""
    versions = lab.offered("InitProducerId", (3, 4, 5))
    for epoch in EPOCHS:
        for txn, version in zip(lab.near_the_end(epoch=epoch, count=len(versions)), versions, strict=True):
            before = (txn.producer_id, epoch - 1)
            txn.init(version=version, identity=before, adopt=False, as_=f"repeated into {epoch}")
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"kept in {epoch}")


def check(seen: Evidence) -> Observations:
    """Each is given the epoch that it was given before, and nothing is bumped."""
    for epoch in EPOCHS:
        for again, kept in zip(seen.all(f"repeated into {epoch}"), seen.all(f"kept in {epoch}"), strict=True):
            yield expect.accepted(again, otherwise="repetition-refused")
            if again.error == 0:
                yield expect.identity(again, again.request_int("producer_id"), epoch, otherwise="another-identity")
            yield expect.keeps(kept, epoch=epoch, otherwise="identity-changed")


def _again(epoch: int) -> Step:
    shown: dict[str, Json] = {"producer_id": 7, "producer_epoch": epoch - 1}
    return step(f"repeated into {epoch}", "InitProducerId", 4, request=shown, producer_id=7, producer_epoch=epoch)


GOOD = evidence(*map(_again, EPOCHS), *(described(f"kept in {epoch}", "Empty", epoch=epoch) for epoch in EPOCHS))
AGAIN = f"repeated into {LAST_EPOCH}"

REQUIREMENT = Requirement(
    id="KIP360-INIT-21",
    source=Source(360, "Proposed Changes, 2b: the provided epoch is the last one"),
    statement="The repeated bump into the last epoch returns that epoch.",
    needs=(Offers("InitProducerId", 3),),
    access=(Access.LOAD,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("repetition-refused", GOOD.with_step(AGAIN, error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("repetition-refused", GOOD.with_step(AGAIN, error=KafkaError.PRODUCER_FENCED)),
        Refusal("another-identity", GOOD.with_step(AGAIN, producer_epoch=0)),
        Refusal("identity-changed", GOOD.with_step(f"kept in {LAST_EPOCH}", producer_epoch=0)),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="repetition-refused"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="another-identity"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="identity-changed"),
    ),
)
