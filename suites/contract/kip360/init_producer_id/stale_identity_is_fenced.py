"""KIP360-INIT-11: an identity that is neither the current nor the last one is fenced, and changes nothing.

Shown are an epoch two behind, one ahead, and another producer's id, on every version that carries an identity; first
with nothing ever written, then after a commit. The KIP's code is INVALID_PRODUCER_EPOCH; from version 4 on Kafka's is
PRODUCER_FENCED (KIP-588), so both are right there. That no identity is given with it is Kafka's habit.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.transaction_metadata_rules import INIT_REPETITION_TAKEN_FOR_THE_FIRST
from harness.contract.doctored import described, ended, evidence, step
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.lab import Lab

STALE = KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """An id two epochs on; the wrong identities before and after a commit of its owner's."""
    partition = lab.partition("P1")
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        txn, other = lab.producer(), lab.producer("rival")
        for _ in range(2):
            txn.init(identity=(txn.producer_id, txn.epoch))
        for _ in range(2):
            own, epoch = txn.producer_id, txn.epoch
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="before")
            for identity in ((own, epoch - 2), (own, epoch + 7), (other.producer_id, epoch)):
                txn.init(version=version, identity=identity, adopt=False, as_="wrong identity")
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="after")
            txn.write(partition)
            txn.end(commit=True, as_="owner's end")
            lab.reached(txn, "CompleteCommit", as_="ended")


def check(seen: Evidence) -> Observations:
    """Refused as fenced, with no identity; the coordinator keeps what it kept, and the owner goes on."""
    for late in seen.all("wrong identity"):
        codes = sorted({STALE, fenced("InitProducerId", late.version)})
        yield expect.refused(late, *codes, otherwise="zombie-not-fenced")
        yield expect.habit(expect.identity(late, -1, -1, otherwise="identity-told"))
    for before, after in zip(seen.all("before"), seen.all("after"), strict=True):
        yield expect.unchanged(before, after, "producer_id", "producer_epoch", "state", otherwise="identity-changed")
    for end in seen.all("owner's end"):
        yield expect.accepted(end, otherwise="owner-fenced")


GOOD = evidence(
    described("before", "Empty", epoch=2),
    step("wrong identity", "InitProducerId", 4, error=KafkaError.PRODUCER_FENCED, producer_id=-1, producer_epoch=-1),
    described("after", "Empty", epoch=2),
    ended("owner's end", version=4, epoch=2),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-11",
    source=Source(360, "Proposed Changes, 2c: neither the current nor the last epoch"),
    statement="An identity that is neither current nor last is fenced.",
    needs=(Offers("InitProducerId", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step("wrong identity", error=STALE)),
    refuses=(
        Refusal("zombie-not-fenced", GOOD.with_step("wrong identity", error=0)),
        Refusal("wrong-error", GOOD.with_step("wrong identity", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("unanswered", GOOD.with_step("wrong identity", error=None)),
        Refusal("identity-told", GOOD.with_step("wrong identity", producer_id=7, producer_epoch=2)),
        Refusal("identity-changed", GOOD.with_step("after", producer_epoch=3)),
        Refusal("owner-fenced", GOOD.with_step("owner's end", error=KafkaError.PRODUCER_FENCED)),
    ),
    refuted_by=(
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="zombie-not-fenced"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="identity-changed"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="identity-told"),
        Liar(api="EndTxn", error=KafkaError.PRODUCER_FENCED, at_most=1, anomaly="owner-fenced"),
    ),
)
