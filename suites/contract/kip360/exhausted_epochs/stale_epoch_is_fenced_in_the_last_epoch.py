"""KIP360-INIT-20: who shows an older epoch is told that it is fenced, also when the current epoch is the last one.

Kafka first looks whether the current epoch can be bumped at all, and answers with UNKNOWN_SERVER_ERROR where it cannot
(``TransactionMetadata.prepareIncrementProducerEpoch`` raises before it compares): a zombie takes that for a
fatal error of the broker's, and its user cannot tell it from one. The epoch before the last is tried as well. The code
of the fencing is the KIP's up to version 3 and KIP-588's from version 4 on.
"""

from harness.base.json_value import Json
from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.transaction_metadata_rules import INIT_REPETITION_TAKEN_FOR_THE_FIRST
from harness.contract.doctored import described, evidence, step
from harness.contract.refuters import Failpoint, Release
from harness.contract.version_tables import fenced
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH

EPOCHS = (LAST_EPOCH - 1, LAST_EPOCH)
STALE, LONG_AGO = KafkaError.INVALID_PRODUCER_EPOCH, 100


def stimulus(lab: Lab) -> None:
    """Older epochs, the one just before the last identity and one long ago, shown in both epochs."""
    versions = lab.offered("InitProducerId", (3, 4, 5))
    for epoch in EPOCHS:
        for txn, version in zip(lab.near_the_end(epoch=epoch, count=len(versions)), versions, strict=True):
            for older in (epoch - 2, LONG_AGO):
                txn.init(version=version, identity=(txn.producer_id, older), adopt=False, as_=f"stale in {epoch}")
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"kept in {epoch}")


def check(seen: Evidence) -> Observations:
    """Each is refused as fenced, and the coordinator keeps what it kept."""
    for epoch in EPOCHS:
        for late in seen.all(f"stale in {epoch}"):
            codes = sorted({STALE, fenced("InitProducerId", late.version)})
            yield expect.refused(late, *codes, otherwise="zombie-not-fenced")
        for kept in seen.all(f"kept in {epoch}"):
            yield expect.keeps(kept, epoch=epoch, otherwise="identity-changed")


def _stale(epoch: int) -> Step:
    shown: dict[str, Json] = {"producer_id": 7, "producer_epoch": LONG_AGO}
    return step(f"stale in {epoch}", "InitProducerId", 4, error=KafkaError.PRODUCER_FENCED, request=shown)


GOOD = evidence(*map(_stale, EPOCHS), *(described(f"kept in {epoch}", "Empty", epoch=epoch) for epoch in EPOCHS))
LATE = f"stale in {LAST_EPOCH}"

REQUIREMENT = Requirement(
    id="KIP360-INIT-20",
    source=Source(360, "Proposed Changes, 2c: neither the current nor the last epoch"),
    statement="A stale epoch is answered with fencing also when the current epoch is the last one.",
    needs=(Offers("InitProducerId", 3),),
    access=(Access.LOAD,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step(LATE, error=STALE)),
    refuses=(
        Refusal("zombie-not-fenced", GOOD.with_step(LATE, error=0)),
        Refusal("wrong-error", GOOD.with_step(LATE, error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("unanswered", GOOD.with_step(LATE, error=None)),
        Refusal("identity-changed", GOOD.with_step(f"kept in {LAST_EPOCH}", producer_epoch=0)),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="wrong-error"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="zombie-not-fenced"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="identity-changed"),
    ),
)
